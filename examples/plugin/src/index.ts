import { randomInt } from 'node:crypto';
import { definePlugin } from '@parley/plugins';
import { z } from 'zod';
import { houseRules } from './house-rules.ts';
import { luckyNumber } from './lucky-number.ts';
import { noticeBoard } from './notice-board.ts';
import { rollDice } from './roll-dice.ts';
import { tableManners } from './table-manners.ts';

const Options = z.strictObject({
  sides: z.int().min(2).max(1_000).default(6).describe('Sides of each die.'),
});

/** A games table that adds one extension of each kind. */
export const plugin = definePlugin({
  name: 'games-table',
  version: '0.1.0',
  options: Options,
  setup({ sides }, { log }) {
    return {
      tools: [rollDice(sides, (most) => randomInt(1, most + 1))],
      skills: ['skills'],
      layers: [tableManners],
      hooks: [luckyNumber(sides, log)],
      channels: [noticeBoard],
      sources: [houseRules],
    };
  },
});
