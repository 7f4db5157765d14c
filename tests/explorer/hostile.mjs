// Words that would do harm as markup are text in every view, and scripts of all directions read well.

import { strict as assert } from 'node:assert';

import { HOSTILE } from './command.mjs';
import { checkAccessibility, settled } from './browser.mjs';

/** What no word may add to the page. */
const foreign = (page) => page.evaluate(() => document.querySelectorAll('img, iframe, object, body script, [onerror], main b, main style').length);

export async function checkHostile(page, url, views) {
  for (const text of HOSTILE) {
    await page.goto(`${url}#/translate?view=he&word=${encodeURIComponent(text)}`);
    await page.waitForFunction((wanted) => document.querySelector('.headword h2')?.textContent === wanted, text);
    await page.locator('.candidates').first().waitFor();
  }
  const before = await foreign(page);
  for (const view of views) {
    await page.goto(`${url}#/${view}`);
    await settled(page);
    assert.equal(await foreign(page), before, view);
  }
  await page.goto(`${url}#/factors?a=${encodeURIComponent(`he:${HOSTILE[5]}`)}&b=zh:${encodeURIComponent('水')}`);
  await page.locator('.own tbody tr').first().waitFor();
  await page.goto(`${url}#/translate`);
  await page.getByRole('combobox').fill('<img');
  await page.getByRole('option').first().waitFor();
  assert.ok((await page.getByRole('option').first().innerText()).includes(HOSTILE[0]));
  return before;
}

export async function hostile({ test, servers }) {
  await test('hostile words are text', { server: servers.bad }, async (page, server) => {
    assert.equal(await checkHostile(page, server.url, ['translate', 'map', 'factors', 'dictionary', 'errors']), 0);
    await page.goto(`${server.url}#/errors`);
    await page.locator('textarea').fill(HOSTILE.map((word, at) => `${word}\t${HOSTILE[(at + 1) % HOSTILE.length]}`).join('\n'));
    await page.getByRole('button', { name: 'Check these pairs' }).click();
    await page.locator('.list tbody tr').first().waitFor();
    assert.equal(await foreign(page), 0);
  });

  await test('right to left, and Chinese', { server: servers.bad }, async (page, server) => {
    await page.goto(`${server.url}#/translate?view=he&word=${encodeURIComponent('בית')}`);
    const headword = page.locator('.headword bdi').first();
    await headword.waitFor();
    assert.deepEqual(await headword.evaluate((one) => [one.lang, one.dir, getComputedStyle(one).direction]), ['he', 'auto', 'rtl']);
    const candidate = page.locator('.candidates bdi').first();
    assert.equal(await candidate.getAttribute('lang'), 'zh');
    await page.getByRole('combobox').fill('בי');
    await page.getByRole('option').first().waitFor();
    assert.equal(await page.getByRole('combobox').evaluate((one) => getComputedStyle(one).direction), 'rtl');
    await page.getByRole('combobox').fill('房');
    await page.getByRole('option', { name: /房子/ }).first().click();
    await page.locator('.headword h2', { hasText: '房子' }).waitFor();
    await checkAccessibility(page, 'Chinese');
  });
}
