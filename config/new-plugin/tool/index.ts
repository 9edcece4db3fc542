import { definePlugin, defineTool, z } from 'parley/plugin';

export const plugin = definePlugin({
  name: 'my-plugin',
  /** The options from the settings; a wrong one is reported at the start. */
  options: z.strictObject({ sides: z.int().min(2).default(6) }),
  setup: ({ sides }) => ({
    tools: [
      defineTool({
        name: 'my_plugin',
        summary: `Rolls dice with ${sides} sides.`,
        hint: 'Use it whenever chance decides; never make up a number.',
        tier: 'middleware',
        effect: 'read',
        audience: 'everyone',
        approval: 'never',
        input: z.strictObject({ dice: z.int().min(1).max(20).default(1) }),
        async run({ dice }) {
          const rolls = Array.from({ length: dice }, () => 1 + Math.floor(Math.random() * sides));
          return { text: rolls.join(' + ') };
        },
      }),
    ],
  }),
});
