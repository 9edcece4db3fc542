import { describe, expect, it } from 'vitest';
import { simulateBeatDays } from '../bench/heartbeat.ts';

describe('the heartbeat over days', () => {
  it('[H02] [H04] [H05] runs five tasks within its token budget, reports each finding once, and costs a fraction of full sessions', async () => {
    const days = 3;
    const found = await simulateBeatDays(days);
    expect(found.beats).toBe(48 * days);
    // One task runs every 30 minutes, day and night.
    expect(found.calls).toBeGreaterThan(46 * days);
    expect(found.calls).toBeLessThanOrEqual(48 * days);
    expect(found.tasks).toMatchObject({ health: days, memory: days });
    expect(found.runs.alerted).toBe(found.alerts.length);
    expect(new Set(found.alerts.filter((text) => text.startsWith('On '))).size).toBe(2 * days);
    expect(found.alerts.join()).not.toMatch(/heartbeat/i);
    expect(found.tokensOfADay).toBeLessThan(250_000);
    // The voice (H10) accounts for about 250 of these tokens.
    expect(found.beatTokens).toBeLessThan(3_800);
    expect(found.tokens).toBeLessThan(found.shared.cutOff / 4.5);
  });

  it("[H05] does not call the model once the day's token budget is used up", async () => {
    const found = await simulateBeatDays(2, { heartbeat: { tokensPerDay: 20_000 } });
    // A run that has started is completed.
    expect(found.tokensOfADay).toBeLessThan(20_000 + found.beatTokens + 100);
    expect(found.calls).toBeLessThanOrEqual(3 * 7);
    expect(found.beats).toBe(96);
  });
});
