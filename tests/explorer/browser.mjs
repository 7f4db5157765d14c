// A real browser, and what must hold on every page: no error in its console, no request to anywhere else, no dialog.

import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// Packages are installed outside of the repository's folders.
const require = createRequire(`${process.env.EXPLORER_PACKAGES}/`);
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const ARGUMENTS = [
  '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
  // WebGL drawn by the processor.
  '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
];

export const DESKTOP = { width: 1280, height: 840 };
export const PHONE = { width: 360, height: 740 };

export async function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM, headless: true, args: ARGUMENTS });
}

/** A page in a fresh profile. `origin` is the only place that it may ask. */
export async function open(browser, origin, { theme = 'light', viewport = DESKTOP, scale = 1, touch = false } = {}) {
  const context = await browser.newContext({ colorScheme: theme, viewport, deviceScaleFactor: scale, hasTouch: touch, acceptDownloads: true, locale: 'en' });
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !isOfDriver(message.text())) problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`exception: ${error.name} ${error.message} ${error.stack}`));
  page.on('dialog', (dialog) => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) problems.push(`request to ${url}`);
  });
  // Long, since tests share the machine with others.
  page.setDefaultTimeout(60000);
  return { page, problems, close: () => context.close() };
}

/** Drawing in software is slow, which the driver tells on the console. */
const isOfDriver = (text) => /GPU stall|GL Driver Message|software WebGL|swiftshader/i.test(text);

/** Checks accessibility by axe: names, contrast, focus, landmarks and so on. */
export async function checkAccessibility(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const found = violations.map((one) => `${one.id}: ${one.help}\n${one.nodes.slice(0, 4).map((node) => `      ${node.html.slice(0, 160)} ${node.failureSummary?.split('\n')[1] ?? ''}`).join('\n')}`);
  assert.deepEqual(found, [], `${where}:\n  ${found.join('\n  ')}`);
}

/** Checks that nothing is wider than the screen. */
export async function checkWidth(page, where) {
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(wide <= room, `${where} is ${wide} pixels wide on a screen of ${room}`);
}

/** Waits until a view has shown what it asked for. */
export async function settled(page) {
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true' && !document.querySelector('[aria-busy=true]'));
  await page.waitForLoadState('networkidle');
}
