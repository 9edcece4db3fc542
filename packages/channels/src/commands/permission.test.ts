import { createRecordingLogger } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import type { GroupCommands } from '../ingress/rules.ts';
import { CHAT_COMMANDS, COMMANDS, RESERVED_COMMANDS } from './list.ts';
import { decideGroupRight, findRefusal, hasGroupRight, listUsableCommands } from './permission.ts';
import { isCommand, parseCommand } from './typed-command.ts';

describe('parsing commands', () => {
  it.each([
    ['/stop', 'stop', ''],
    ['/STOP', 'stop', ''],
    ['  /stop now', 'stop', 'now'],
    ['/start', 'help', ''],
    ['/new\nwith more', 'new', 'with more'],
    ['/pair  ab cd\n', 'pair', 'ab cd'],
  ])('[F09] parses %j as %s with %j', (text, name, argument) => {
    expect(parseCommand(text)).toMatchObject({ command: { name }, argument });
  });

  it.each(['/stop@other_bot', '/stopwatch', 'please /stop', 'stop', '/', '', '/etc/passwd'])(
    '[F09] treats %j as ordinary text',
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

  it('[S08] may not have the name of a built-in command, nor of one that Telegram sends automatically', () => {
    expect(RESERVED_COMMANDS).toEqual(
      expect.arrayContaining([...CHAT_COMMANDS.map(({ name }) => name), 'start']),
    );
  });
});

describe('whether a command is run', () => {
  it.each([
    ['help', 'guest', 'group', null],
    ['stop', 'guest', 'direct', null],
    ['pair', 'owner', 'direct', null],
    ['pair', 'owner', 'group', 'direct-only'],
    ['pair', 'guest', 'direct', 'owner-only'],
    ['pair', 'guest', 'group', 'owner-only'],
    ['memory', 'guest', 'group', null],
    ['mode', 'guest', 'group', null],
    ['approve', 'owner', 'group', null],
    ['approve', 'guest', 'group', 'approver-only'],
    ['deny', 'guest', 'direct', 'approver-only'],
    ['model', 'owner', 'direct', null],
    ['model', 'guest', 'direct', 'owner-only'],
  ] as const)('[F09] /%s by a %s in a %s chat', (name, who, where, expected) => {
    const isOwner = who === 'owner';
    const isDirect = where === 'direct';
    const asker = { isOwner, isDirect, isApprover: isOwner, mayChangeChat: true };
    expect(findRefusal(commandNamed(name), asker)).toBe(expected);
  });

  it('[F09] every command in the menu exists, and is listed once', () => {
    const names = COMMANDS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.map((name) => parseCommand(`/${name}`)?.command.name)).toEqual(names);
  });

  it.each([
    [true, true, true],
    [false, true, true],
    [false, true, false],
    [false, false, true],
    [false, false, false],
  ])('[F09] /help lists the available commands: %s %s %s', (isOwner, isApprover, mayChangeChat) => {
    const asker = { isOwner, isDirect: true, isApprover, mayChangeChat };
    const usable = listUsableCommands(CHAT_COMMANDS, asker).map(({ name }) => name);
    for (const { name } of COMMANDS) {
      expect(usable.includes(name)).toBe(findRefusal(commandNamed(name), asker) === null);
    }
  });
});

function commandNamed(name: string) {
  const found = CHAT_COMMANDS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no command /${name}.`);
  return found;
}

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
    expect(ranks.map((rank) => [decideGroupRight(rule, rank)])).toEqual(expected);
  });

  it('[F05] asks the platform only when the setting requires it, and treats a missing answer as a no', async () => {
    const { log, lines } = createRecordingLogger();
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

  it('[F05] [D13] gives up on a platform that does not respond', async () => {
    const { log } = createRecordingLogger();
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
