import { describe, expect, it } from 'vitest';
import {
  type ComposerState,
  decideKeyAction,
  findCommand,
  type KeyAction,
  matchCommands,
  type PressedKey,
} from './composer-keys.ts';

const COMMANDS = ['help', 'new', 'status', 'stop'].map((name) => ({ name, summary: name }));
const [help, , status, stop] = COMMANDS;

const press = (key: Partial<PressedKey>, facts: Partial<ComposerState> = {}): KeyAction =>
  decideKeyAction(
    { key: '', shiftKey: false, altKey: false, isComposing: false, keyCode: 0, ...key },
    { matches: [], at: 0, draft: '', busy: false, isEdit: false, ...facts },
  );

describe('the keyboard in the composer', () => {
  it.each<[string, Partial<PressedKey>, Partial<ComposerState>, KeyAction]>([
    ['Enter sends', { key: 'Enter' }, { draft: 'hi' }, { kind: 'send', text: 'hi' }],
    ['Shift+Enter starts a new line', { key: 'Enter', shiftKey: true }, {}, { kind: 'type' }],
    [
      'Enter belongs to an open input method',
      { key: 'Enter', isComposing: true },
      {},
      { kind: 'type' },
    ],
    [
      'even when only its key code reveals it',
      { key: 'Enter', keyCode: 229 },
      {},
      { kind: 'type' },
    ],
    ['Escape stops an answer', { key: 'Escape' }, { busy: true }, { kind: 'stop' }],
    [
      'Escape cancels an edit',
      { key: 'Escape' },
      { isEdit: true, draft: 'x', busy: true },
      { kind: 'cancel-edit' },
    ],
    [
      'but not while there is a draft',
      { key: 'Escape' },
      { busy: true, draft: 'x' },
      { kind: 'type' },
    ],
    ['and not when nothing is running', { key: 'Escape' }, {}, { kind: 'type' }],
    ['Tab leaves the field', { key: 'Tab' }, { draft: 'x' }, { kind: 'type' }],
  ])('[U03] %s', (_case, key, facts, action) => {
    expect(press(key, facts)).toEqual(action);
  });

  it.each<[Partial<PressedKey>, KeyAction]>([
    [{ key: 'ArrowDown' }, { kind: 'choose', at: 2 }],
    [{ key: 'ArrowUp' }, { kind: 'choose', at: 0 }],
    [{ key: 'Tab' }, { kind: 'complete', text: '/new ' }],
    [{ key: 'Tab', shiftKey: true }, { kind: 'type' }],
    [{ key: 'Enter' }, { kind: 'send', text: '/new' }],
    [{ key: 'Escape' }, { kind: 'close-menu' }],
  ])('[U03] turns %o into %o while the command menu is open', (key, action) => {
    expect(press(key, { matches: COMMANDS, at: 1, draft: '/', busy: true })).toEqual(action);
  });

  it('wraps the selection around at both ends of the menu', () => {
    expect(press({ key: 'ArrowDown' }, { matches: COMMANDS, at: 3 })).toEqual({
      kind: 'choose',
      at: 0,
    });
    expect(press({ key: 'ArrowUp' }, { matches: COMMANDS, at: 0 })).toEqual({
      kind: 'choose',
      at: 3,
    });
  });
});

describe('slash commands', () => {
  it.each([
    ['/', COMMANDS],
    ['/ST', [status, stop]],
    ['/help', [help]],
    ['/help ', []],
    ['a /help', []],
    ['/nothing', []],
    ['', []],
  ])('offers the commands that start with %j', (draft, expected) => {
    expect(matchCommands(draft, COMMANDS)).toEqual(expected);
  });

  it.each([
    ['/new', 'new'],
    [' /New\n', 'new'],
    ['/new plan for the week', null],
    ['/unknown', null],
    ['new', null],
  ])('recognizes the whole message %j as the command %s', (text, expected) => {
    expect(findCommand(text, COMMANDS)).toBe(expected);
  });

  it('[S08] accepts digits and underscores in the command of a skill', () => {
    const skill = { name: 'plan_trip_2', summary: 'Plans a trip.' };
    expect(matchCommands('/plan_t', [skill])).toEqual([skill]);
    expect(findCommand('/plan_trip_2', [skill])).toBe('plan_trip_2');
  });
});
