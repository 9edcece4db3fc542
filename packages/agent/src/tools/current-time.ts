import { z } from 'zod';
import { defineTool, type Tool } from './tool.ts';

/** Tells the time, which the prompt says to the minute only as of the beginning of the turn. */
export const currentTimeTool: Tool = defineTool({
  name: 'current_time',
  summary: 'Tells the date and time of day, here or in another time zone.',
  tier: 'middleware',
  effect: 'read',
  audience: 'everyone',
  approval: 'never',
  input: z.object({
    timeZone: z
      .string()
      .optional()
      .describe('IANA name, such as Asia/Tokyo; the agent’s own when absent.'),
  }),
  async run({ timeZone }, { clock, facts }) {
    const zone = timeZone ?? facts.timeZone;
    const face = clockFace(zone);
    if (face === null) {
      const text = `"${zone}" is no time zone. Use an IANA name, such as Asia/Tokyo.`;
      return { text, failed: true };
    }
    return { text: `It is ${face.format(clock())} (${zone}).` };
  },
});

function clockFace(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone });
  } catch {
    return null; // Intl says "unknown zone" by throwing, and has no other way to ask.
  }
}
