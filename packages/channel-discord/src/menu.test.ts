import { createRecordingLogger } from '@parley/core/testing';
import { expect, it } from 'vitest';
import type { MenuCommand } from './api.ts';
import { createMenu, registerMenu } from './menu.ts';

/** Registers commands with a fake Discord server that stores the command menu. */
async function register(commands: readonly { name: string; summary: string; isSkill?: true }[]) {
  const { log, lines } = createRecordingLogger();
  const told: string[] = [];
  let menu: readonly MenuCommand[] = [];
  const api = {
    menu: async () => [...menu],
    async setMenu(_id: string, wanted: readonly MenuCommand[]) {
      menu = wanted;
    },
  };
  const notifyOwner = async (_key: string, text: string) => void told.push(text);
  const deps = { api, commands, notifyOwner, log, commandUses: async () => new Map([['c119', 1]]) };
  const first = await registerMenu(deps, '1');
  return { first, second: await registerMenu(deps, '1'), menu, told, lines };
}

it('[F09] registers only menu items that Discord accepts, and only once', async () => {
  const { first, second, menu, lines } = await register([
    { name: 'help', summary: '🦜'.repeat(120) },
    { name: 'skill-one', summary: ' ' },
    { name: 'Upper', summary: 's' },
    { name: 'two words', summary: 's' },
  ]);
  expect([first, second]).toEqual(['changed', 'same']);
  expect(menu.map(({ name }) => name)).toEqual(['help', 'skill-one']);
  expect([...(menu[0]?.description ?? '')]).toHaveLength(100);
  expect(menu[1]?.description).toBe('skill-one');
  expect(lines.join('\n')).toContain('/Upper, /two words');
});

it('[F09] limits the menu to the 100 most frequently used commands', () => {
  const many = Array.from({ length: 120 }, (_, n) => ({ name: `c${n}`, summary: 's' }));
  expect(createMenu(many).at(-1)?.name).toBe('c99');
  expect(createMenu(many, new Map([['c110', 2]])).at(-1)?.name).toBe('c110');
});

it('[F09] notifies the owner about commands that are left out of the menu', async () => {
  const commands = Array.from({ length: 120 }, (_, n) => ({
    name: `c${n}`,
    summary: 's',
    isSkill: true as const,
  }));
  const { menu, told } = await register(commands);
  expect(menu).toHaveLength(100);
  expect(menu.map(({ name }) => name)).toContain('c119');
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('/c118');
});
