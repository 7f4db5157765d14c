// The map: points, labels, and every way to move.

import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';

import { settled } from './browser.mjs';

/** How much there is to see: a picture of nothing takes few bytes. */
const detail = async (page) => (await page.locator('.stage').screenshot()).length;
const parameters = (page) => new URLSearchParams(page.url().split('?')[1]);

/** Milliseconds after which a map that was moved is drawn whole, in software. */
const STILL = 1500;

export async function map({ test, data }) {
  await test('map: points, legend, search, and an address that leads back', {}, async (page, server) => {
    await page.goto(`${server.url}#/map`);
    await settled(page);
    await page.waitForTimeout(300);
    const all = await detail(page);
    for (const name of ['English', 'French', 'Russian']) await page.getByRole('button', { name }).click();
    await page.waitForTimeout(300);
    const none = await detail(page);
    assert.ok(all > 3 * none, `${all} bytes with points, ${none} without`);
    assert.match(parameters(page).get('off'), /en/);
    for (const name of ['English', 'French', 'Russian']) await page.getByRole('button', { name }).click();
    await page.getByRole('combobox').pressSequentially('house');
    await page.getByRole('option', { name: /^house\b/ }).first().click();
    await page.getByRole('region', { name: 'Chosen word' }).getByRole('heading', { name: 'house' }).waitFor();
    await page.locator('.info li').nth(1).waitFor();
    await page.getByLabel('Join translations').check();
    await page.waitForURL(/lines=1/);
    await page.waitForURL(/word=en%3Ahouse/);
    const address = page.url();
    await page.goto('about:blank');
    await page.goto(address);
    await page.getByRole('region', { name: 'Chosen word' }).getByRole('heading', { name: 'house' }).waitFor();
    await page.waitForTimeout(400);
    assert.equal(parameters(page).get('z'), new URLSearchParams(address.split('?')[1]).get('z'));
  });

  await test('map: the words of the dictionary are joined by lines', {}, async (page, server) => {
    const words = await Promise.all(['en', 'fr', 'ru'].map(async (view) => (await (await fetch(`${server.url}v1/words?view=${view}`)).text()).trimEnd().split('\n')));
    const [en, fr, ru] = words;
    const points = new Uint32Array(await (await fetch(`${server.url}v1/map/lines`)).arrayBuffer());
    const { lines } = await server.ask('/v1/map');
    assert.equal(points.length, 2 * lines);
    const offsets = [0, en.length, en.length + fr.length];
    const pairs = new Set(Array.from({ length: lines }, (_, at) => `${points[2 * at]} ${points[2 * at + 1]}`));
    const [header, ...rows] = readFileSync(`${data}/concepts.train.tsv`, 'utf8').trimEnd().split('\n').map((line) => line.split('\t'));
    assert.deepEqual(header.slice(0, 3), ['en', 'fr', 'ru']);
    const known = rows.map((row) => row.slice(0, 3).map((word, view) => words[view].indexOf(word))).filter((row) => row.every((at) => at >= 0));
    assert.ok(known.length > 100, `${known.length} entries`);
    for (const row of known) assert.ok(pairs.has(`${offsets[0] + row[0]} ${offsets[1] + row[1]}`) && pairs.has(`${offsets[1] + row[1]} ${offsets[2] + row[2]}`), String(row));
    await page.goto(`${server.url}#/map?layout=pca`);
    await settled(page);
    await page.waitForTimeout(STILL);
    const without = await detail(page);
    await page.getByLabel('Join the dictionary').check();
    await page.waitForURL(/pairs=1/);
    await page.waitForTimeout(STILL);
    const joined = await detail(page);
    assert.ok(joined > 1.05 * without, `${joined} bytes with lines, ${without} without`);
    await page.reload();
    await settled(page);
    assert.ok(await page.getByLabel('Join the dictionary').isChecked());
  });

  await test('map: mouse, wheel and keyboard', {}, async (page, server) => {
    await page.goto(`${server.url}#/map?layout=pca`);
    await settled(page);
    const moved = async (work) => {
      const before = page.url();
      await work();
      await page.waitForURL((url) => url.href !== before);
      return parameters(page);
    };
    await page.mouse.move(700, 500);
    const zoomed = await moved(() => page.mouse.wheel(0, -600));
    assert.ok(Number(zoomed.get('z')) > 2);
    const dragged = await moved(async () => {
      await page.mouse.down();
      await page.mouse.move(800, 560, { steps: 4 });
      await page.mouse.up();
    });
    assert.ok(Number(dragged.get('x')) < Number(zoomed.get('x')) && Number(dragged.get('y')) > Number(zoomed.get('y')));
    await page.locator('.overlay').focus();
    const right = await moved(() => page.keyboard.press('ArrowRight'));
    assert.ok(Number(right.get('x')) > Number(dragged.get('x')));
    assert.ok(Number((await moved(() => page.keyboard.press('+'))).get('z')) > Number(right.get('z')));
    assert.equal((await moved(() => page.keyboard.press('0'))).get('z'), null);
    await page.keyboard.press('.');
    const chosen = page.getByRole('region', { name: 'Chosen word' }).getByRole('heading');
    await chosen.waitFor();
    const first = await chosen.innerText();
    await page.keyboard.press('.');
    await page.waitForFunction((text) => document.querySelector('.info h2').textContent !== text, first);
    const second = await chosen.innerText();
    await page.locator('.overlay').focus();
    await page.keyboard.press('Enter');
    await page.locator('.headword h2', { hasText: second }).waitFor();
  });

  await test('map: fingers', { touch: true, viewport: { width: 360, height: 740 } }, async (page, server) => {
    await page.goto(`${server.url}#/map?layout=pca`);
    await settled(page);
    const touch = (type, points) => page.evaluate(([kind, places]) => {
      const overlay = document.querySelector('.overlay');
      const box = overlay.getBoundingClientRect();
      overlay.setPointerCapture = () => {};
      for (const [id, x, y] of places) overlay.dispatchEvent(new PointerEvent(kind, { pointerId: id, pointerType: 'touch', clientX: box.left + x, clientY: box.top + y, bubbles: true }));
    }, [type, points]);
    await touch('pointerdown', [[1, 150, 400], [2, 200, 400]]);
    await touch('pointermove', [[1, 100, 400], [2, 250, 400]]);
    await touch('pointerup', [[1, 100, 400], [2, 250, 400]]);
    await page.waitForURL(/z=/);
    const zoom = Number(parameters(page).get('z'));
    assert.ok(zoom > 2.5 && zoom < 3.5, `spreading two fingers threefold zooms by ${zoom}`);
  });

  await test('map: 200,000 points', {}, async (page, server) => {
    const count = 200000;
    const points = new Float32Array(2 * count).map((_, at) => Math.sin(at * 12.9898) * ((at * 7919) % 1000));
    const { views } = (await server.ask('/v1/spaces')).spaces[0];
    await page.route('**/v1/map?*', (route) => route.fulfill({ json: {
      layout: 'pca', layouts: [{ name: 'pca', ready: true }], views: [{ name: views[0].name, words: count, offset: 0 }], points: count, bounds: [-1000, -1000, 1000, 1000],
    } }));
    await page.route('**/v1/map/points?*', (route) => route.fulfill({ body: Buffer.from(points.buffer), contentType: 'application/octet-stream' }));
    await page.route('**/v1/words?*', (route) => route.fulfill({ body: Array.from({ length: count }, (_, at) => `w${at}`).join('\n') }));
    await page.goto(`${server.url}#/map?layout=pca`);
    await settled(page);
    await page.locator('.overlay').focus();
    const milliseconds = await page.evaluate(async () => {
      const frames = 20;
      const start = performance.now();
      for (let at = 0; at < frames; at += 1) {
        document.dispatchEvent(new KeyboardEvent('keydown', { key: at % 2 ? 'ArrowLeft' : 'ArrowRight', bubbles: true }));
        await new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); });
      }
      return (performance.now() - start) / frames;
    });
    console.log(`     ${milliseconds.toFixed(0)} ms a frame while 200,000 points move, drawn in software`);
    // Some of the points move; all of them are there when it stands still.
    await page.waitForTimeout(STILL);
    assert.ok((await detail(page)) > 50000);
  });
}
