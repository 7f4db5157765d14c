// The command `sememe`: spaces to look at, and servers of them.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';

const COMMAND = process.env.SEMEME_COMMAND;
const LATENT = 40;
/** EXPLORER_PAGE=web serves the page from that folder instead of the program, for work on it. */
const PAGE = process.env.EXPLORER_PAGE ? ['--page', process.env.EXPLORER_PAGE] : [];

/** Runs the command; its output, or an error with all that it said. */
export function sememe(...values) {
  try {
    return execFileSync(COMMAND, values, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });
  } catch (error) {
    throw new Error(`sememe ${values.join(' ')}\n${error.stdout}${error.stderr}`);
  }
}

/** A space of three languages, and another one of two of them, from the example data in a folder. */
export function alignExamples(data, folder) {
  const views = (names) => names.map((name) => `${name}=${data}/${name}.vec`);
  const fast = ['--latent', LATENT, '--shrinkage', '0.7', '--quiet'];
  sememe('align', ...views(['en', 'fr', 'ru']), '--lexicon', `${data}/concepts.train.tsv`, ...fast, '-o', `${folder}/before`);
  sememe('align', ...views(['en', 'fr']), '--lexicon', `en-fr=${data}/en-fr.train.txt`, ...fast, '-o', `${folder}/after`);
}

/** Words that would do harm as markup, or that turn the direction of the text around them. */
export const HOSTILE = [
  '<img src=x onerror=alert(1)>', '"><script>alert(2)</script>', '</script><script>alert(3)</script>', '\u202Etxet desrever', '\u2066isolated',
  'javascript:alert(4)', "'-alert(5)-'", '${alert(6)}', '{{7*7}}', '&lt;b&gt;', '<!--', '</style><b>', 'constructor', '__proto__', '%3Cscript%3E', '=1+1',
];
const FRIENDLY = ['שלום', 'בית', 'מים', '你好', '房子', '水', 'مرحبا', 'かな'];

/** A space whose words are hostile, between Hebrew and Chinese. */
export function alignHostile(folder) {
  mkdirSync(folder, { recursive: true });
  const words = [...HOSTILE, ...FRIENDLY, ...Array.from({ length: 60 }, (_, at) => `word${at}`)];
  let state = 7;
  const random = () => { state = (state * 48271) % 2147483647; return state / 2147483647 - 0.5; };
  const rows = words.map(() => Array.from({ length: 6 }, random));
  for (const view of ['he', 'zh']) {
    const values = Float32Array.from(rows.flat(), (value) => value + 0.05 * random());
    writeFileSync(`${folder}/${view}.npy`, npy(values, words.length));
    writeFileSync(`${folder}/${view}.words.txt`, `${words.join('\n')}\n`);
  }
  writeFileSync(`${folder}/pairs.tsv`, words.map((word) => `${word}\t${word}\n`).join(''));
  sememe('align', `he=${folder}/he.npy`, `zh=${folder}/zh.npy`, '--lexicon', `he-zh=${folder}/pairs.tsv`, '--quiet', '-o', `${folder}/hostile`);
  return `${folder}/hostile`;
}

/** An array of `rows` rows in the format of NumPy. */
function npy(values, rows) {
  const description = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${values.length / rows}), }`;
  const header = `${description.padEnd(117)}\n`;
  const start = Buffer.alloc(10);
  start.write('\x93NUMPY\x01\x00', 'latin1');
  start.writeUInt16LE(header.length, 8);
  return Buffer.concat([start, Buffer.from(header, 'latin1'), Buffer.from(values.buffer)]);
}

/** Serves spaces on a free port. */
export async function serve(spaces, options = []) {
  const server = spawn(COMMAND, ['serve', ...spaces, '--port', '0', '--json', ...PAGE, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  server.stderr.on('data', (data) => { said += data; });
  const url = await new Promise((resolve, reject) => {
    let answer = '';
    server.stdout.on('data', (data) => {
      answer += data;
      const found = answer.match(/"url":\s*"([^"]+)"/);
      if (found) resolve(found[1]);
    });
    server.on('exit', (code) => reject(new Error(`sememe serve ended with ${code}: ${said}`)));
  });
  const stop = () => new Promise((resolve) => { server.on('exit', resolve); server.kill('SIGTERM'); });
  const ask = async (path, body) => {
    const response = await fetch(new URL(path, url), body && { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } });
    return response.json();
  };
  return { url: url.replace(/#.*$/, ''), address: url, stop, ask };
}
