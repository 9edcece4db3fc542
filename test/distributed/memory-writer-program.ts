import { writeMemories } from './write-memories.ts';

/** A worker in a process of its own, played by its memory: writes what it does to its output. */
const [folder = '', url = '', name = '', count = '0'] = process.argv.slice(2);
await writeMemories({ folder, url, name, count: Number(count) }, (line) => {
  process.stdout.write(`${line}\n`);
});
