import { silentLogger } from '@parley/core';
import { openLiveBus } from '@parley/queue';

/**
 * The bus of a worker in a separate process: prints "ready" and which conversations are to be
 * stopped, and publishes a turn event for each `go`. Reads and writes lines.
 */
const bus = await openLiveBus({
  url: process.argv[2] ?? '',
  receives: 'orders',
  log: silentLogger,
});
bus.subscribe((event) => {
  if (event.type === 'stop-turn') process.stdout.write(`stop ${event.conversationId}\n`);
  else process.stdout.write(`unasked ${event.type}\n`);
});
process.stdin.setEncoding('utf8').on('data', (text: string) => {
  if (!text.includes('go')) return;
  const turn = { conversationId: 'c', turnId: 't' };
  for (let i = 0; i < 500; i += 1) bus.publish({ type: 'turn-delta', ...turn, text: `${i} ` });
  bus.publish({ type: 'turn-ended', ...turn, outcome: 'answered' });
});
process.stdin.on('end', () => void bus.close());
process.stdout.write('ready\n');
