// The dictionary: decided on by keyboard, kept, exported, and read back by `sememe align`.

import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';

import { sememe } from './command.mjs';

const ACCEPTED = 60;

async function exported(page, path) {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  await (await download).saveAs(path);
  return readFileSync(path, 'utf8');
}

export async function dictionary({ test, data, folder }) {
  await test('dictionary: by keyboard alone, kept after a reload, read back by the command', {}, async (page, server) => {
    await page.goto(`${server.url}#/dictionary?from=en&to=fr`);
    await page.locator('.pairs button').first().waitFor();
    const { pairs } = await server.ask('/v1/induce', { from: 'en', to: 'fr', limit: 500, skip_training: true });
    assert.equal(await page.locator('.pairs li').count(), pairs.length);
    assert.ok(pairs.length > ACCEPTED + 5, `${pairs.length} pairs`);
    await page.locator('main').focus();
    for (let at = 0; at < ACCEPTED; at += 1) await page.keyboard.press('a');
    await page.keyboard.press('r');
    const corrected = await page.locator('.current h2 a').innerText();
    await page.locator('.offered button').nth(1).waitFor();
    const second = await page.locator('.offered button').nth(1).locator('.word').first().innerText();
    await page.keyboard.press('2');
    const typed = await page.locator('.current h2 a').innerText();
    await page.keyboard.press('e');
    await page.keyboard.type('maison');
    await page.locator('[role=option]:first-child', { hasText: /^maison/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const counts = async () => (await page.locator('.count strong').allInnerTexts()).map(Number);
    assert.deepEqual(await counts(), [ACCEPTED, 2, 1, pairs.length - ACCEPTED - 3]);
    await page.reload();
    await page.locator('.pairs button').first().waitFor();
    assert.deepEqual(await counts(), [ACCEPTED, 2, 1, pairs.length - ACCEPTED - 3]);
    const path = `${folder}/en-fr.tsv`;
    const lines = (await exported(page, path)).trimEnd().split('\n');
    assert.equal(lines[0], 'en\tfr');
    assert.equal(lines.length, 1 + ACCEPTED + 2);
    assert.deepEqual(lines.slice(-2), [`${corrected}\t${second}`, `${typed}\tmaison`]);
    assert.equal(lines[1], `${pairs[0].source}\t${pairs[0].target}`);
    const said = sememe('align', `en=${data}/en.vec`, `fr=${data}/fr.vec`, '--lexicon', path, '--latent', '10', '--json', '--quiet', '-o', `${folder}/from-export`);
    assert.equal(JSON.parse(said).tuples ?? JSON.stringify(JSON.parse(said)).match(/"tuples":(\d+)/)?.[1], lines.length - 1);
    // Undecided again, then taken back from the file.
    await page.locator('.pairs button').first().click();
    await page.locator('main').focus();
    await page.keyboard.press('u');
    assert.equal((await counts())[0], ACCEPTED - 1);
    await page.locator('input[type=file]').setInputFiles(path);
    await page.getByText(`${ACCEPTED + 2} pairs read`).waitFor();
    assert.equal((await counts())[0], ACCEPTED + 2);
  });
}
