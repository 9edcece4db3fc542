import { expect, it } from 'vitest';
import { menuOf } from './menu.ts';

it('[F09] the menu has only what Discord takes', () => {
  const long = { name: 'help', summary: '🦜'.repeat(120) };
  const none = { name: 'skill-one', summary: ' ' };
  const wrong = [
    { name: 'Upper', summary: 's' },
    { name: 'two words', summary: 's' },
  ];
  const menu = menuOf([long, none, ...wrong]);
  expect(menu.map(({ name }) => name)).toEqual(['help', 'skill-one']);
  expect([...(menu[0]?.description ?? '')]).toHaveLength(100);
  expect(menu[1]?.description).toBe('skill-one');
  const many = Array.from({ length: 120 }, (_, n) => ({ name: `c${n}`, summary: 's' }));
  expect(menuOf(many)).toHaveLength(100);
});
