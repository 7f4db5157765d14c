// Translate, factors, errors and compare.

import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';

import { settled } from './browser.mjs';
import { sememe } from './command.mjs';

const words = (page, selector) => page.locator(selector).allInnerTexts();

export async function views({ test, servers, spaces, data }) {
  await test('translate: a word is typed, completed, and its candidates are those of the API', {}, async (page, server) => {
    await page.getByRole('combobox', { name: 'Word' }).pressSequentially('hous');
    await page.getByRole('option', { name: /^house\b/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator('.candidates').first().waitFor();
    assert.match(page.url(), /#\/translate\?view=en&word=house$/);
    const expected = await server.ask('/v1/explain', { from: 'en', word: 'house', k: 8 });
    for (const { view, candidates } of expected.to) {
      const name = { fr: 'French', ru: 'Russian' }[view];
      const rows = page.getByRole('region', { name }).locator('tbody tr');
      assert.deepEqual(await words(page, `section[aria-label=${name}] tbody th a`), candidates.map((one) => one.word));
      const cells = await rows.first().locator('td').allInnerTexts();
      const [best] = candidates;
      assert.deepEqual(cells, [`${Math.round(100 * best.confidence)} %`, String(best.ranks.nn), String(best.ranks.csls), String(best.ranks.pmi), best.back.word]);
      const marks = await rows.first().locator('.mark').allInnerTexts();
      assert.equal(marks.includes('mutual'), best.mutual);
      assert.equal(marks.includes('training'), best.training);
    }
    await page.locator('.near a').first().waitFor();
    await page.getByRole('region', { name: 'French' }).locator('tbody a').first().click();
    await page.waitForURL(/view=fr/);
    await page.goBack();
    await page.locator('.headword h2', { hasText: 'house' }).waitFor();
    await page.getByRole('link', { name: 'Show on the map' }).click();
    await page.getByRole('heading', { name: 'house' }).waitFor();
    assert.match(page.url(), /#\/map\?/);
  });

  await test('translate: any script, wrong spelling, unknown words', {}, async (page, server) => {
    const box = page.getByRole('combobox', { name: 'Word' });
    await box.pressSequentially('дом');
    await page.getByRole('option', { name: /Russian/ }).first().waitFor();
    await box.fill('huose');
    await page.getByText('Not a word here').waitFor();
    // Two letters in the wrong order are one edit, and a suggestion says its language.
    const closest = page.getByRole('listbox', { name: 'Word' }).getByRole('option').first();
    assert.match(await closest.innerText(), /^house\s+English$/);
    await closest.click();
    await page.locator('.headword h2', { hasText: 'house' }).waitFor();
    await page.goto(`${server.url}#/translate?view=en&word=hoouse`);
    await page.getByRole('alert').waitFor();
    await page.locator('.content p a', { hasText: 'house' }).first().waitFor();
  });

  await test('translate: the empty page leads to words and to a false friend', {}, async (page) => {
    const chips = page.locator('.examples').first().locator('.chip');
    await chips.first().waitFor();
    assert.ok((await chips.count()) >= 6);
    const friend = page.locator('.examples').nth(1).locator('.chip').first();
    await friend.waitFor();
    await friend.click();
    await page.locator('.hint-box.friend').waitFor();
  });

  await test('factors: words at both ends, and an axis of one’s own', {}, async (page, server) => {
    await page.goto(`${server.url}#/factors`);
    const expected = await server.ask('/v1/factors?count=10&top=8');
    const first = page.getByRole('region', { name: 'Factor 1', exact: true });
    await first.waitFor();
    const shown = await first.locator('tbody tr').first().locator('td.high a').allInnerTexts();
    assert.deepEqual(shown, expected.factors[0].views[0].positive.map((one) => one.word));
    // The strongest come first, and each language says how much it tells.
    const percent = (share) => `${Math.round(100 * share)} %`;
    const [strongest, second] = expected.factors;
    assert.ok(strongest.correlation >= second.correlation && expected.correlations.length === expected.latent);
    assert.equal(await first.locator('.correlation').innerText(), `correlation ${strongest.correlation.toFixed(2)}`);
    assert.deepEqual(await first.locator('.share').allInnerTexts(), strongest.views.map(({ share }) => percent(share)));
    assert.equal(await page.locator('.strip rect').count(), expected.latent);
    await page.getByRole('link', { name: 'Next' }).first().click();
    await page.getByRole('region', { name: 'Factor 11', exact: true }).waitFor();
    for (const [end, word] of [['one end', 'summer'], ['the other end', 'winter']]) {
      await page.getByRole('combobox', { name: `Add a word to ${end}` }).pressSequentially(word);
      await page.getByRole('option', { name: new RegExp(`^${word}\\b`) }).first().click();
      await page.waitForURL(new RegExp(word));
      // The form is made anew: what is typed before that is lost.
      await page.getByRole('button', { name: `Remove ${word}` }).waitFor();
    }
    const own = page.getByRole('region', { name: 'Your own axis' });
    await own.locator('tbody tr').first().waitFor();
    const axis = await server.ask('/v1/axis', { negative: [{ view: 'en', word: 'summer' }], positive: [{ view: 'en', word: 'winter' }], top: 16 });
    assert.deepEqual(await own.locator('tbody tr').first().locator('td.high a').allInnerTexts(), axis.views[0].positive.map((one) => one.word));
    await page.reload();
    await own.locator('tbody tr').first().waitFor();
    await own.getByRole('link', { name: 'Clear' }).click();
    await own.getByRole('link', { name: /summer/ }).waitFor();
  });

  await test('errors: precision is that of `sememe evaluate`, wrong entries come first', {}, async (page, server) => {
    await page.goto(`${server.url}#/errors`);
    await page.getByRole('button', { name: 'Try an example with mistakes' }).click();
    const worst = page.locator('.list tbody tr').first();
    await worst.waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    const gold = `${data}/en-fr.test.txt`;
    await page.locator('input[type=file]').setInputFiles(gold);
    await page.getByText('right at first').waitFor();
    const shown = Number.parseFloat(await page.locator('.figure strong').first().innerText());
    const measured = JSON.parse(sememe('evaluate', 'translation', spaces.before, '--from', 'en', '--to', 'fr', '--gold', gold, '--json', '--quiet'));
    const precision = JSON.stringify(measured).match(/"precision":\{"1":([\d.]+)/);
    assert.equal(shown, Number(Number(precision[1]).toFixed(1)));
    const margins = (await words(page, '.list tbody td:nth-of-type(4)')).map(Number);
    assert.ok(margins.length > 3 && margins.every((margin, at) => at === 0 || margin <= margins[at - 1]), String(margins));
    // The dictionary is marked elsewhere, and is there after a reload.
    const [word, translation] = readFileSync(gold, 'utf8').split('\n').map((line) => line.split('\t')).find(([source]) => source === 'house') ?? [];
    await page.reload();
    await page.getByText('right at first').waitFor();
    if (word) {
      await page.goto(`${server.url}#/translate?view=en&word=${word}`);
      await page.locator('.candidates').first().waitFor();
      assert.ok((await page.locator('main').innerText()).includes(translation));
    }
  });

  await test('compare: words with other neighbours in another space', { server: servers.two }, async (page, server) => {
    await page.goto(`${server.url}#/compare`);
    await page.locator('.compared tbody tr').first().waitFor();
    const { changed } = await server.ask('/v1/compare', { space: 'before', other: 'after', from: 'en', to: 'en', k: 10, limit: 200 });
    assert.equal((await words(page, '.compared tbody th'))[0], changed[0].word);
    await page.getByLabel('Neighbours in').selectOption('fr');
    await page.waitForURL(/to=fr/);
    await page.locator('.compared tbody tr').first().waitFor();
    await page.getByLabel('Space', { exact: true }).selectOption('after');
    await page.waitForURL(/space=after/);
    await settled(page);
  });

  await test('compare: one space is not enough, and the page says so', {}, async (page, server) => {
    await page.goto(`${server.url}#/compare`);
    await page.getByText('sememe serve before after').waitFor();
  });
}
