import { openStore } from '../open-store.ts';

// Runs as a separate process: `keep-program.ts URL BYTES` stores the first due attachment with that
// size.
const [url = '', size = '0'] = process.argv.slice(2);

const store = await openStore({ url, clock: () => 0 });
const [due] = await store.attachments.due('web', 'default', 0, 1);
if (due === undefined) throw new Error('nothing is due');
await store.attachments.keep(due, new Uint8Array(Number(size)).fill(7), 1);
await store.close();
