// What holds in all views: accessibility in light and dark, the width of a phone, shortcuts, themes, tokens.

import { strict as assert } from 'node:assert';

import { checkAccessibility, checkWidth, open, PHONE, settled } from './browser.mjs';
import { serve } from './command.mjs';

export const ADDRESSES = [
  '#/translate', '#/translate?view=en&word=house', '#/map?layout=pca&word=en:house', '#/factors', '#/factors?a=en:summer&b=en:winter', '#/errors', '#/dictionary', '#/compare',
];

export async function everywhere({ test, browser, servers, spaces }) {
  for (const options of [{ theme: 'light' }, { theme: 'dark' }, { theme: 'light', viewport: PHONE }]) {
    const name = `accessible: every view, ${options.theme}${options.viewport ? ', phone' : ''}`;
    await test(name, { ...options, server: servers.two }, async (page, server) => {
      for (const address of ADDRESSES) {
        await page.goto(server.url + address);
        await settled(page);
        await checkAccessibility(page, address);
        await checkWidth(page, address);
      }
      await page.goto(`${server.url}#/errors`);
      await page.getByRole('button', { name: 'Try an example with mistakes' }).click();
      await page.locator('.list tbody tr').first().waitFor();
      await checkAccessibility(page, 'errors');
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
      await checkAccessibility(page, 'help');
    });
  }

  await test('keyboard: shortcuts lead everywhere, and Tab reaches the content', {}, async (page) => {
    await settled(page);
    await page.keyboard.press('Escape');
    for (const [key, title] of [['m', 'Map'], ['f', 'Factors'], ['e', 'Errors'], ['d', 'Dictionary'], ['c', 'Compare'], ['t', 'Translate']]) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.getByRole('heading', { name: title, level: 1 }).waitFor({ state: 'attached' });
      await page.evaluate(() => document.activeElement?.blur());
    }
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('search').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('role')), 'combobox');
    await page.keyboard.type('river');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.candidates').first().waitFor();
    const reached = new Set();
    for (let at = 0; at < 30; at += 1) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate(() => document.activeElement.closest('header, .headword, .cards')?.className ?? ''));
    }
    assert.ok([...reached].some((name) => name.startsWith('headword')) && reached.has('cards'), String([...reached]));
  });

  await test('theme: switched by hand and kept', {}, async (page) => {
    await settled(page);
    const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    const button = page.getByRole('button', { name: /^Theme/ });
    await button.click();
    await button.click();
    assert.equal(await scheme(), 'dark');
    await page.reload();
    await settled(page);
    assert.equal(await scheme(), 'dark');
    await page.getByRole('button', { name: 'Theme: dark' }).click();
    assert.equal(await scheme(), 'light dark');
  });

  const guarded = await serve([spaces.after], ['--token', 'sesame-open']);
  try {
    await test('token: taken from the address once, and said where it is missing', { server: guarded, expected: /401/ }, async (page, server) => {
      await page.getByRole('alert').getByText('token').waitFor();
      const { page: other, close } = await open(browser, server.url);
      await other.goto(`${server.url}#token=sesame-open`);
      await other.locator('.examples').first().waitFor();
      assert.ok(!other.url().includes('sesame'));
      await other.reload();
      await other.locator('.examples').first().waitFor();
      await close();
    });
  } finally {
    await guarded.stop();
  }
}
