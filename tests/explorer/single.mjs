// The page of one file: opened without a server, and its ranks held against those of the server.

import { strict as assert } from 'node:assert';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { checkAccessibility, checkWidth, PHONE, settled } from './browser.mjs';
import { sememe } from './command.mjs';
import { checkHostile } from './hostile.mjs';

/** Words whose first translations are compared: all of a page, up to this number. */
const COMPARED = 1500;
/** The share of them that must agree, and that must agree by the bytes of vectors alone. */
const AGREE = 0.99;
const AGREE_BY_BYTES = 0.97;

/** Words whose ranks by PMI are compared: so many that a standard error is less than the share that may differ. */
const EXPLAINED = 200;
/** The share of first ones by PMI that must agree. The second is often nearly as good. */
const FIRSTS_BY_BYTES = 0.95;
/** How much PMI, of tens of nats, may differ by the bytes of vectors. */
const NATS = 0.75;

/** The page's own backend, outside of a browser. */
async function backend(path, folder) {
  const web = join(import.meta.dirname, '../../web');
  const copy = join(folder, 'modules');
  mkdirSync(copy, { recursive: true });
  for (const file of readdirSync(web).filter((name) => name.endsWith('.js'))) copyFileSync(join(web, file), join(copy, file));
  writeFileSync(join(copy, 'package.json'), '{"type": "module"}');
  const html = readFileSync(path, 'utf8');
  const block = (id) => html.match(new RegExp(`<script type="[a-z/]+" id="${id}">([^<]*)</script>`))[1];
  globalThis.document = { getElementById: (id) => ({ textContent: block(id), remove: () => {} }) };
  const { Local } = await import(pathToFileURL(join(copy, 'local.js')));
  const { top } = await import(pathToFileURL(join(copy, 'embedded.js')));
  return { local: new Local(), top };
}

export async function single({ test, servers, spaces, folder }) {
  const path = `${folder}/page.html`;
  sememe('page', spaces.before, '-o', path, '--quiet');
  const url = pathToFileURL(path).href;

  await test('one file: translate, map, factors, errors and dictionary from file://', { origin: url }, async (page) => {
    await page.goto(url);
    await page.locator('.examples .chip').first().waitFor();
    await page.getByRole('combobox').pressSequentially('hous');
    await page.getByRole('option', { name: /^house\b/ }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.candidates').first().waitFor();
    const expected = await servers.one.ask('/v1/explain', { from: 'en', word: 'house', k: 8 });
    const shown = await page.locator('section[aria-label=French] tbody th a').allInnerTexts();
    assert.equal(shown[0], expected.to[0].candidates[0].word);
    const sure = await page.locator('section[aria-label=French] tbody td.confidence').first().innerText();
    assert.ok(Math.abs(Number.parseFloat(sure) - 100 * expected.to[0].candidates[0].confidence) <= 3, sure);
    for (const view of ['map', 'factors?a=en:summer&b=en:winter', 'errors', 'dictionary']) {
      await page.goto(`${url}#/${view}`);
      await settled(page);
      await checkAccessibility(page, view);
    }
    assert.ok((await page.locator('.pairs li').count()) > 100);
    assert.equal(await page.getByRole('link', { name: 'Compare' }).count(), 0);
    await page.goto(`${url}#/errors`);
    await page.getByRole('button', { name: 'Try an example with mistakes' }).click();
    await page.locator('.list tbody tr').first().waitFor();
  });

  await test('one file: on a phone', { origin: url, viewport: PHONE }, async (page) => {
    await page.goto(`${url}#/translate?view=en&word=house`);
    await page.locator('.candidates').first().waitFor();
    await checkWidth(page, 'one file');
  });

  await test('one file: first translations are those of the server', { origin: url }, async () => {
    const { local, top } = await backend(path, folder);
    const words = (await local.words({ view: 'en' })).slice(0, COMPARED);
    const found = await local.translate({ from: 'en', words, k: 1 });
    const asked = [];
    for (let at = 0; at < words.length; at += 500) asked.push((await servers.one.ask('/v1/translate', { from: 'en', words: words.slice(at, at + 500), k: 1 })).translations);
    const key = (one) => `${one.to} ${one.word}`;
    const expected = new Map(asked.flat().map((one) => [key(one), one.candidates[0]]));
    const same = found.translations.filter((one) => one.candidates[0]?.word === expected.get(key(one))?.word).length;
    const share = same / found.translations.length;
    console.log(`     ${same} of ${found.translations.length} first translations agree (${(100 * share).toFixed(2)} %)`);
    assert.ok(share >= AGREE);
    const [source, target] = ['en', 'fr'].map((view) => local.data.view(view));
    const byBytes = words.filter((word, row) => target.words[top(local.data.scores(source, row, target).csls, 1)[0]] === expected.get(`fr ${word}`).word);
    console.log(`     ${byBytes.length} of ${words.length} by bytes alone`);
    assert.ok(byBytes.length >= AGREE_BY_BYTES * words.length);
    const off = found.translations.map((one) => Math.abs(one.candidates[0].confidence - (expected.get(key(one))?.confidence ?? 0)));
    assert.ok(off.filter((one) => one < 0.05).length >= AGREE * off.length, 'confidences agree');
  });

  await test('one file: ranks by PMI are those of the server', { origin: url }, async () => {
    const { local } = await backend(path, folder);
    const words = (await local.words({ view: 'en' })).slice(0, EXPLAINED);
    const [near, places, firsts] = [[], [], []];
    for (const word of words) {
      const expected = await servers.one.ask('/v1/explain', { from: 'en', word, k: 8 });
      for (const { view, candidates } of (await local.explain({ from: 'en', word, k: 8 })).to) {
        const known = new Map(expected.to.find((one) => one.view === view).candidates.map((one) => [one.word, one]));
        for (const { ranks, scores, word: found } of candidates.filter((one) => known.has(one.word))) {
          const other = known.get(found);
          near.push(Math.abs(scores.pmi - other.scores.pmi) <= NATS);
          places.push(Math.abs(ranks.pmi - other.ranks.pmi) <= Math.max(1, 0.1 * other.ranks.pmi));
          if (other.ranks.pmi === 1) firsts.push(ranks.pmi === 1);
        }
      }
    }
    const share = (agree) => agree.filter(Boolean).length / agree.length;
    console.log(`     ${(100 * share(firsts)).toFixed(1)} % of ${firsts.length} first ones agree, ${(100 * share(places)).toFixed(1)} % of ${places.length} ranks nearly`);
    assert.ok(firsts.length > EXPLAINED && share(firsts) >= FIRSTS_BY_BYTES && share(places) >= AGREE_BY_BYTES);
    assert.ok(share(near) >= AGREE, `${share(near)} of PMI within ${NATS}`);
  });

  const hostilePath = `${folder}/hostile.html`;
  sememe('page', spaces.hostile, '-o', hostilePath, '--quiet');
  const hostileUrl = pathToFileURL(hostilePath).href;
  await test('one file: hostile words are text', { origin: hostileUrl }, async (page) => {
    // Its own data and script are the only ones.
    assert.equal(await checkHostile(page, hostileUrl, ['translate', 'map', 'factors', 'dictionary']), 2);
  });
}
