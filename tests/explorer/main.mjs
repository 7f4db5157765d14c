// Opens every view in a real browser, types into it and checks what it shows.

import { mkdirSync } from 'node:fs';

import { launch, open } from './browser.mjs';
import { alignExamples, alignHostile, serve } from './command.mjs';
import { dictionary } from './dictionary.mjs';
import { everywhere } from './everywhere.mjs';
import { hostile } from './hostile.mjs';
import { map } from './map.mjs';
import { single } from './single.mjs';
import { views } from './views.mjs';

const [data, folder] = process.argv.slice(2);
const only = process.env.EXPLORER_ONLY;

mkdirSync(folder, { recursive: true });
alignExamples(data, folder);
const spaces = { before: `${folder}/before`, after: `${folder}/after`, hostile: alignHostile(`${folder}/hostile-data`) };
const one = await serve([spaces.before]);
const two = await serve([spaces.before, spaces.after]);
const bad = await serve([spaces.hostile]);
const browser = await launch();
let failed = 0;

/** Runs a test on a page of its own. What the page complains about fails it, but for what `expected` matches. */
async function test(name, options, work) {
  if (only && !name.includes(only)) return;
  const server = options.server ?? one;
  const opened = await open(browser, options.origin ?? server.url, options);
  const start = Date.now();
  try {
    if (!options.origin) await opened.page.goto(server.url);
    await work(opened.page, server, opened);
    const problems = opened.problems.filter((problem) => !options.expected?.test(problem));
    if (problems.length) throw new Error(problems.join('\n'));
    console.log(`ok   ${name} (${Date.now() - start} ms)`);
  } catch (error) {
    failed += 1;
    console.error(`FAIL ${name}\n${error.stack}\n${opened.problems.join('\n')}`);
    await opened.page.screenshot({ path: `${folder}/failed-${failed}.png` }).catch(() => {});
    console.error(`     ${folder}/failed-${failed}.png shows the page`);
  } finally {
    await opened.close();
  }
}

const context = { test, browser, servers: { one, two, bad }, spaces, data, folder };
try {
  for (const part of [views, map, dictionary, everywhere, hostile, single]) await part(context);
} finally {
  await browser.close();
  await Promise.all([one, two, bad].map((server) => server.stop()));
}
if (failed) {
  console.error(`${failed} tests of the explorer failed`);
  process.exit(1);
}
