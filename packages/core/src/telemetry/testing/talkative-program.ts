import { createLogger } from '../logger.ts';

// A program that logs as much as its argument says, in lines of 1 kB, and then tells its memory in MB.

const log = createLogger({ level: 'info', format: 'json', scrub: (text) => text });
const words = 'x'.repeat(1_000);
for (let line = 0; line < Number(process.argv[2]); line += 1) log.info({ line }, words);
process.stdout.write(String(Math.round(process.memoryUsage().rss / 1_048_576)));
