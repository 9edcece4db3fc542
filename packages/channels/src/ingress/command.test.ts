import { recordingLogger } from '@parley/core';
import { describe, expect, it } from 'vitest';
import {
  COMMANDS,
  type CommandName,
  commandsFor,
  decideCommand,
  type GroupCommands,
  groupRight,
  hasGroupRight,
  isCommand,
  isInTurn,
  parseCommand,
  RESERVED_COMMANDS,
} from './command.ts';

describe('recognising a command', () => {
  it.each([
    ['/stop', 'stop', ''],
    ['/STOP', 'stop', ''],
    ['  /stop now', 'stop', 'now'],
    ['/start', 'help', ''],
    ['/new\nwith more', 'new', 'with more'],
    ['/pair  ab cd\n', 'pair', 'ab cd'],
  ])('[F09] reads %j as %s with %j', (text, name, argument) => {
    expect(parseCommand(text)).toEqual({ name, argument });
  });

  it.each(['/stop@other_bot', '/stopwatch', 'please /stop', 'stop', '/', '', '/etc/passwd'])(
    '[F09] reads %j as ordinary text',
    (text) => {
      expect(parseCommand(text)).toBeNull();
    },
  );
});

describe('the commands of skills', () => {
  const commands = [{ name: 'plan_trip', summary: 'Plans a trip.' }];
  it.each([
    ['/plan_trip Rome', true],
    ['/plan-trip', true],
    [' /PLAN_TRIP\nRome', true],
    ['/plan_tripod', false],
    ['/plan_trip@other_bot', false],
    ['go /plan_trip', false],
    ['/plan', false],
  ])('[S08] [F09] %j is one of them: %s', (text, expected) => {
    expect(isCommand(text, commands)).toBe(expected);
  });

  it('[S08] may not be called like one of Parley’s own, nor like what Telegram sends by itself', () => {
    expect(RESERVED_COMMANDS).toEqual(
      expect.arrayContaining([...COMMANDS.map(({ name }) => name), 'start']),
    );
  });
});

describe('whether a command is carried out', () => {
  const run = { kind: 'run' };
  const ownerOnly = { kind: 'decline', why: 'owner-only' };
  const directOnly = { kind: 'decline', why: 'direct-only' };
  it.each<[CommandName, 'owner' | 'guest', 'direct' | 'group', object]>([
    ['help', 'guest', 'group', run],
    ['stop', 'guest', 'direct', run],
    ['pair', 'owner', 'direct', run],
    ['pair', 'owner', 'group', directOnly],
    ['pair', 'guest', 'direct', ownerOnly],
    ['pair', 'guest', 'group', ownerOnly],
    ['memory', 'guest', 'group', { kind: 'run', name: 'memory' }],
    ['mode', 'guest', 'group', run],
    ['approve', 'owner', 'group', run],
    ['approve', 'guest', 'group', { kind: 'decline', why: 'approver-only' }],
    ['deny', 'guest', 'direct', { kind: 'decline', why: 'approver-only' }],
    ['model', 'owner', 'direct', run],
    ['model', 'guest', 'direct', ownerOnly],
  ])('[F09] /%s of a %s in a %s chat', (name, who, where, expected) => {
    const isOwner = who === 'owner';
    const asker = {
      isOwner,
      isDirect: where === 'direct',
      isApprover: isOwner,
      mayChangeChat: true,
    };
    expect(decideCommand(name, asker)).toMatchObject(expected);
  });

  it('[F09] every command of the menu is known, once', () => {
    const names = COMMANDS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.map((name) => parseCommand(`/${name}`)?.name)).toEqual(names);
  });

  it.each([
    [true, true, true],
    [false, true, true],
    [false, true, false],
    [false, false, true],
    [false, false, false],
  ])('[F09] /help shows what can be used: %s %s %s', (isOwner, isApprover, mayChangeChat) => {
    const asker = { isOwner, isDirect: true, isApprover, mayChangeChat };
    const ready = commandsFor(asker);
    for (const { name } of COMMANDS) {
      const known = parseCommand(`/${name}`)?.name ?? 'help';
      if (isInTurn(known)) {
        expect(ready.some((one) => one.name === name)).toBe(mayChangeChat);
        continue;
      }
      const decision = decideCommand(known, asker);
      expect(ready.some((one) => one.name === name)).toBe(decision.kind === 'run');
    }
  });
});

const GUEST = { isDirect: false, isOwner: false, isApprover: false };
const APPROVER = { ...GUEST, isApprover: true };
const OWNER = { ...GUEST, isOwner: true, isApprover: true };
const ALONE = { ...GUEST, isDirect: true };

describe('who may change a group’s conversation for everyone', () => {
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
