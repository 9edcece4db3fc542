import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkRole, type LoadedSettings } from './settings.ts';
import { openIdleRuntime } from './testing/idle-runtime.ts';

type Places = Parameters<typeof checkRole>[1];
const queue: LoadedSettings['settings']['queue'] = { prefix: 'parley' };
const postgres = { url: 'postgres://db/parley' };
const redis = { ...queue, url: 'redis://redis:6379' };

describe('the role of a process', () => {
  it.each<readonly ['gateway' | 'worker', Places, string]>([
    ['gateway', { store: {}, queue }, 'store.url (PostgreSQL) and queue.url (Redis)'],
    ['worker', { store: postgres, queue }, 'Set queue.url (Redis) in the settings'],
    ['gateway', { store: {}, queue: redis }, 'Set store.url (PostgreSQL) in the settings'],
  ])(
    '[D09] requires servers for a separate %s process, and names the missing servers',
    (role, places, words) => {
      expect(() => checkRole(role, places)).toThrow(
        expect.objectContaining({
          code: 'role-needs-servers',
          message: expect.stringContaining(words),
        }),
      );
    },
  );

  it('[D09] does not require servers if one process takes on all roles', () => {
    checkRole('all', { store: {}, queue });
    checkRole('worker', { store: postgres, queue: redis });
  });
});

const MINUTE = 60_000;
const BEGIN = Date.parse('2026-11-21T10:00:00Z');
const HEARTBEAT = '## mail\n- every: 30 min\n- do: Look for mail.\n';
const UPKEEP = '## memory\n- every: 30 min\n- run: memory-upkeep\n';

describe('numeric limits in the settings', () => {
  it('[P04] [H03] [H07] affect the prompt, the evaluation of a heartbeat and the maintenance of MEMORY.md', async () => {
    const settings = {
      agent: { timeZone: 'UTC', prompt: { fileCharacters: 300, dailyNotes: 1 } },
      heartbeat: {
        quietHours: 'off',
        quietMaxCharacters: 5,
        memoryUpkeepDays: 1,
        memoryTokens: 200,
      },
    };
    const parley = await openIdleRuntime(settings, BEGIN, () => 'HEARTBEAT_OK A letter came.');
    try {
      parley.put('AGENTS.md', 'q'.repeat(1_000));
      mkdirSync(join(parley.folder, 'workspace/memory'), { recursive: true });
      parley.put('memory/2026-11-21.md', '- The heron came back to the pond today.\n');
      parley.put('memory/2026-11-20.md', '- The old gate was painted green again.\n');
      parley.put('MEMORY.md', `# Memory\n${'- Something about Ann that matters.\n'.repeat(60)}`);
      await parley.say('Hello');
      const [{ request } = never()] = parley.asked;
      const shown = JSON.stringify(request);
      expect(shown.match(/q{100,}/g)?.map(({ length }) => length)).toEqual([300]);
      expect(shown).toContain('heron');
      expect(shown).not.toContain('old gate');
      const beat = async (tasks: string, minutes: number) => {
        parley.put('HEARTBEAT.md', tasks);
        parley.at(BEGIN + minutes * MINUTE);
        await parley.runDue();
        return JSON.stringify(parley.asked.at(-1)?.request.messages);
      };
      await beat(HEARTBEAT, 0);
      await beat(HEARTBEAT, 30);
      const [last] = await parley.store.heartbeats.recent('main', 1);
      expect(last).toMatchObject({ task: 'mail', state: 'alerted' });
      await beat(UPKEEP, 60);
      const asked = await beat(UPKEEP, 90);
      expect(asked).toMatch(/heron.*The page is too long by about \d+ tokens/s);
      expect(asked).not.toContain('old gate');
    } finally {
      await parley.close();
    }
  });
});

function never(): never {
  throw new Error('the model was not asked');
}
