import { defineTool, type Tool } from '@parley/plugins';
import { z } from 'zod';

const Input = z.strictObject({
  dice: z.int().min(1).max(20).default(1).describe('How many dice.'),
});

/** Rolls dice with `sides` sides; `roll` returns a number from 1 to `sides`. */
export function rollDice(sides: number, roll: (sides: number) => number): Tool {
  return defineTool({
    name: 'roll_dice',
    summary: `Rolls dice with ${sides} sides.`,
    hint: 'Use it whenever chance decides; never make up a number.',
    tier: 'middleware',
    effect: 'read',
    audience: 'everyone',
    approval: 'never',
    input: Input,
    async run({ dice }) {
      const rolls = Array.from({ length: dice }, () => roll(sides));
      return { text: `${rolls.join(' + ')} = ${rolls.reduce((sum, one) => sum + one, 0)}` };
    },
  });
}
