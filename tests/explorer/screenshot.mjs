// Pictures of the explorer: of the README with one file name, of every view in light, dark and on a phone with a folder.

import { mkdirSync } from 'node:fs';

import { launch, open, PHONE, settled } from './browser.mjs';
import { serve } from './command.mjs';
import { ADDRESSES } from './everywhere.mjs';

const [space, output, all] = process.argv.slice(2);
const server = await serve([space]);
const browser = await launch();
try {
  const picture = async (address, path, options) => {
    const { page, problems, close } = await open(browser, server.url, options);
    await page.goto(server.url + address);
    await settled(page);
    await page.waitForTimeout(600);
    await page.screenshot({ path });
    await close();
    if (problems.length) throw new Error(problems.join('\n'));
  };
  if (all === '--all') {
    mkdirSync(output, { recursive: true });
    for (const [at, address] of ADDRESSES.entries()) {
      const name = `${at}-${address.match(/\w+/)[0]}`;
      await picture(address, `${output}/${name}-light.png`, { theme: 'light' });
      await picture(address, `${output}/${name}-dark.png`, { theme: 'dark' });
      await picture(address, `${output}/${name}-phone.png`, { viewport: PHONE });
    }
  } else {
    await picture('#/translate?view=en&word=coin', output, { viewport: { width: 1280, height: 800 } });
  }
} finally {
  await browser.close();
  await server.stop();
}
