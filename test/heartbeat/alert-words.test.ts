import { Dialect } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import { render } from '@parley/markup';
import { createHeartbeatJudge } from '@parley/proactive';
import type { HeartbeatRun, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const SPELLINGS = [
  'HEARTBEAT_OK',
  'heartbeat_ok',
  'HEARTBEAT\\_OK',
  'HEARTBEAT\u200b_OK',
  '**HEARTBEAT**_OK',
  'HEARTBEAT&#95;OK',
  'HEARTBEAT&lowbar;OK',
  'HEARTBEAT-OK',
  'HEARTBEAT OK',
  'HEARTBEATOK',
  'ＨＥＡＲＴＢＥＡＴ＿ＯＫ',
  '`HEARTBEAT_OK`',
] as const;
const LONG = 'The letter from the landlord asks for an answer by Monday. '.repeat(8);
const RUN: HeartbeatRun = {
  ...{ id: 'b', agent: 'main', task: 'mail', target: 'c', state: 'running', reason: null },
  ...{ alert: null, heldUntil: null, startedAt: 1, finishedAt: null },
  ...{ inputTokens: 0, outputTokens: 0 },
};

let store: Store;
beforeAll(async () => {
  store = await openMemoryStore({ clock: () => 1 });
});
afterAll(() => store.close());

describe('the visible text of an alert', () => {
  it.each(SPELLINGS)('[H03] never contains %j in any dialect', async (token) => {
    const judge = createHeartbeatJudge({
      ...{ store, agent: { timeZone: 'Europe/Berlin' }, clock: () => 1 },
      settings: { quietHours: 'off', repeatHours: 24 },
      log: createRecordingLogger().log,
    });
    const answers = [`${token}\n${LONG}`, `${LONG}\n${token}`, `${LONG} ${token} ${LONG}`];
    for (const answer of answers) {
      const verdict = await judge(answer, RUN);
      if (verdict.state !== 'alerted') throw new Error(`not told: ${verdict.state}`);
      for (const dialect of Dialect.options) {
        const parts = render(verdict.text, { dialect, maxLength: 4_096, unit: 'utf16' });
        const shown = parts.map(({ text, plain }) => `${text}\n${plain}`).join('\n');
        expect(shown).toContain('landlord');
        expect(shown.normalize('NFKC').replace(/[^\p{L}]/gu, '')).not.toMatch(
          /heartbeat\p{L}*ok/iu,
        );
      }
    }
  });
});
