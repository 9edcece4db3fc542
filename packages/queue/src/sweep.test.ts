import { setTimeout as sleep } from 'node:timers/promises';
import { recordingLogger } from '@parley/contracts';
import { describe, expect, it } from 'vitest';
import { startSweep } from './sweep.ts';

describe('a sweep', () => {
  it('begins at once, comes again, and never overlaps itself', async () => {
    const { log } = recordingLogger();
    let running = 0;
    let most = 0;
    let rounds = 0;
    const sweep = startSweep('test', 1, log, async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(5);
      running -= 1;
      rounds += 1;
    });
    expect(running).toBe(1);
    await expect.poll(() => rounds).toBeGreaterThan(2);
    await sweep.stop();
    expect(most).toBe(1);
  });

  it('survives a round that fails, and tells', async () => {
    const { log, lines } = recordingLogger();
    let rounds = 0;
    const sweep = startSweep('lanes', 1, log, async () => {
      rounds += 1;
      if (rounds === 1) throw new Error('database away');
    });
    await expect.poll(() => rounds).toBeGreaterThan(2);
    await sweep.stop();
    expect(lines).toEqual(['sweep failed {"sweep":"lanes","reason":"database away"}']);
  });

  it('[D11] waits for its last round and then stays away', async () => {
    const { log } = recordingLogger();
    let done = 0;
    const sweep = startSweep('test', 1, log, async () => {
      await sleep(20);
      done += 1;
    });
    await sweep.stop();
    expect(done).toBe(1);
    await sleep(30);
    expect(done).toBe(1);
  });
});
