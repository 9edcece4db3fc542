import { recordingLogger } from '@parley/contracts';
import { describe, expect, it } from 'vitest';
import { type GroupCommands, groupRight, hasGroupRight } from './group-commands.ts';

const GUEST = { isDirect: false, isOwner: false, isApprover: false };
const APPROVER = { ...GUEST, isApprover: true };
const OWNER = { ...GUEST, isOwner: true, isApprover: true };
const ALONE = { ...GUEST, isDirect: true };

describe('who may change a group’s conversation for everybody', () => {
  it.each<[GroupCommands, object, object, object, object]>([
    ['owners', ['granted'], ['denied'], ['denied'], ['granted']],
    ['approvers', ['granted'], ['granted'], ['denied'], ['granted']],
    ['administrators', ['granted'], ['granted'], ['ask'], ['granted']],
    ['everyone', ['granted'], ['granted'], ['granted'], ['granted']],
  ])('[F05] %s: owner %s, approver %s, guest %s, in a direct chat %s', (rule, ...expected) => {
    const ranks = [OWNER, APPROVER, GUEST, ALONE];
    expect(ranks.map((rank) => [groupRight(rule, rank)])).toEqual(expected);
  });

  it('[F05] asks the platform only where that decides, and takes no answer for a no', async () => {
    const { log, lines } = recordingLogger();
    const never = { isAdministrator: () => Promise.reject(new Error('asked')) };
    expect(await hasGroupRight('administrators', APPROVER, never, log)).toBe(true);
    expect(await hasGroupRight('owners', APPROVER, never, log)).toBe(false);
    expect(lines).toEqual([]);
    const yes = { isAdministrator: async () => true };
    expect(await hasGroupRight('administrators', GUEST, yes, log)).toBe(true);
    expect(await hasGroupRight('administrators', GUEST, {}, log)).toBe(false);
    expect(await hasGroupRight('administrators', GUEST, never, log)).toBe(false);
    expect(lines.join()).toContain('asked');
  });

  it('[F05] [D13] does not wait for a platform that is silent', async () => {
    const { log } = recordingLogger();
    let given: AbortSignal | undefined;
    const silent = {
      isAdministrator: (signal: AbortSignal) => {
        given = signal;
        return new Promise<boolean>(() => {});
      },
    };
    expect(await hasGroupRight('administrators', GUEST, silent, log, 20)).toBe(false);
    expect(given?.aborted).toBe(true);
  });
});
