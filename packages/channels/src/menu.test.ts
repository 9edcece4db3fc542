import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from './commands/list.ts';
import {
  type CommandInfo,
  describeOmittedCommands,
  fitMenu,
  type MenuItem,
  type MenuLimits,
  shortenWords,
} from './menu.ts';

const sizeOf = (items: readonly MenuItem[]): number => Buffer.byteLength(JSON.stringify(items));
const LIMITS = {
  commands: 100,
  description: { max: 256, unit: 'utf16' },
  size: { max: 7_000, of: sizeOf },
  name: /^[a-z0-9_]{1,32}$/,
} satisfies MenuLimits;

const skill = (name: string, summary: string): CommandInfo => ({ name, summary, isSkill: true });

const skills = fc.array(
  fc
    .tuple(
      fc.stringMatching(/^[a-z0-9_]{1,32}$/),
      fc.string({ unit: 'grapheme', minLength: 0, maxLength: 400 }),
    )
    .map(([name, summary]) => skill(name, summary)),
  { maxLength: 150 },
);

describe('[F09] the menu for a platform', () => {
  it('fits the limits for any skills, and reports every command that was left out', () => {
    fc.assert(
      fc.property(skills, (some) => {
        const commands = [...COMMANDS, ...some];
        const { items, leftOut } = fitMenu(commands, LIMITS);
        expect(sizeOf(items)).toBeLessThanOrEqual(LIMITS.size.max);
        expect(items.length).toBeLessThanOrEqual(LIMITS.commands);
        expect(items.length + leftOut.length).toBe(commands.length);
        expect(new Set(items.map(({ name }) => name)).size).toBe(items.length);
        for (const { description } of items) {
          expect(description.length).toBeGreaterThan(0);
          expect(description.length).toBeLessThanOrEqual(LIMITS.description.max);
          expect(description.isWellFormed()).toBe(true);
        }
        // Built-in commands are short, so skills never displace them.
        for (const { name } of COMMANDS) expect(items.some((one) => one.name === name)).toBe(true);
      }),
      toRunOptions(200),
    );
  });

  it('shortens descriptions before it leaves a command out', () => {
    const commands = Array.from({ length: 80 }, (_, n) => skill(`skill_${n}`, 'word '.repeat(60)));
    const { items, leftOut, shortenedTo } = fitMenu(commands, LIMITS);
    expect(leftOut).toEqual([]);
    expect(items).toHaveLength(80);
    expect(shortenedTo).toBeLessThan(100);
    expect(items[0]?.description).toMatch(/word…$/);
  });

  it('keeps descriptions unchanged when all fit', () => {
    const commands = [skill('tea', 'Makes tea.'), skill('talk', 'x'.repeat(256))];
    const { items, shortenedTo } = fitMenu(commands, LIMITS);
    expect(items.map(({ description }) => description.length)).toEqual([10, 256]);
    expect(shortenedTo).toBeNull();
  });

  it('leaves out the least used skill, then the last one, and keeps the order of the others', () => {
    const commands = Array.from({ length: 103 }, (_, n) => skill(`s${n}`, 'Short.'));
    const uses = new Map(commands.slice(1).map(({ name }) => [name, 1]));
    const { items, leftOut } = fitMenu(commands, LIMITS, uses);
    expect(leftOut.map(({ name }) => name)).toEqual(['s101', 's102', 's0']);
    expect(items.map(({ name }) => name)).toEqual(commands.slice(1, 101).map(({ name }) => name));
  });

  it('leaves out names that the platform refuses, and the second of two names that the platform treats as equal', () => {
    const commands = [skill('Plan', 'a'), skill('a-b', 'b'), skill('a_b', 'c'), skill('旅行', 'd')];
    const nameOf = (name: string) => name.replaceAll('-', '_');
    const { items, leftOut } = fitMenu(commands, { ...LIMITS, nameOf });
    expect(items).toEqual([{ name: 'a_b', description: 'b' }]);
    expect(leftOut.map(({ name, why }) => `${name} ${why}`)).toEqual([
      'Plan name',
      'a_b twice',
      '旅行 name',
    ]);
    expect(describeOmittedCommands('Telegram', leftOut)).toBe(
      "Telegram's menu does not accept a command called /Plan, /旅行, /a_b. They work when they are typed.",
    );
  });
});

describe('a shortened description', () => {
  it.each([
    ['Plans a trip.', 20, 'Plans a trip.'],
    ['Plans a trip to anywhere.', 16, 'Plans a trip to…'],
    ['Plans a trip, slowly', 14, 'Plans a trip…'],
    ['Donaudampfschifffahrt', 10, 'Donaudamp…'],
    ['👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 14, '👨‍👩‍👧‍👦…'],
  ])('%j shortened to %i units is %j', (text, length, expected) => {
    expect(shortenWords(text, length)).toBe(expected);
  });
});
