import { writeMemories } from './write-memories.ts';

/** Simulates the memory of a worker in a separate process, and prints what it does. */
const [folder = '', url = '', name = '', count = '0'] = process.argv.slice(2);
await writeMemories({ folder, url, name, count: Number(count) }, (line) => {
  process.stdout.write(`${line}\n`);
});
