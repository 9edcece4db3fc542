import { describe, expect, it } from 'vitest';
import { checkRole, type LoadedSettings } from './settings.ts';

type Places = Parameters<typeof checkRole>[1];
const queue: LoadedSettings['settings']['queue'] = { prefix: 'parley' };
const postgres = { url: 'postgres://db/parley' };
const redis = { ...queue, url: 'redis://redis:6379' };

describe('the role of a process', () => {
  it.each<readonly ['gateway' | 'worker', Places, string]>([
    ['gateway', { store: {}, queue }, 'store.url (PostgreSQL) and queue.url (Redis)'],
    ['worker', { store: postgres, queue }, 'Set queue.url (Redis) in the settings'],
    ['gateway', { store: {}, queue: redis }, 'Set store.url (PostgreSQL) in the settings'],
  ])('[D09] of a %s alone needs servers, and says which are missing', (role, places, words) => {
    expect(() => checkRole(role, places)).toThrow(
      expect.objectContaining({
        code: 'role-needs-servers',
        message: expect.stringContaining(words),
      }),
    );
  });

  it('[D09] needs nothing where one process does everything', () => {
    checkRole('all', { store: {}, queue });
    checkRole('worker', { store: postgres, queue: redis });
  });
});
