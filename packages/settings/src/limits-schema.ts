import { z } from 'zod';
import { defineSection, flag, numberField, wholeNumber } from './fields.ts';

/** `limits`: which messages are accepted, how many may wait and what a turn may use (D07, G01). */
export const Limits = defineSection('Limits. Anything beyond them is refused with a notice.', {
  messageCharacters: wholeNumber(
    { min: 1, max: 1_000_000, default: 32_000 },
    'Maximum length of a message, in characters.',
  ),
  turnSteps: wholeNumber(
    { min: 1, max: 200, default: 20 },
    'Maximum number of model calls in one turn; the last call must produce the answer.',
  ),
  turnMinutes: numberField(
    { above: 0, max: 60, default: 10 },
    'Maximum duration of a turn; the model is then asked for its answer once more.',
  ),
  turnTokens: wholeNumber(
    { above: 0, default: 1_000_000 },
    'Maximum tokens for all steps of a turn together; the model is then asked for its answer once more.',
  ),
  answer: defineSection('Limits for a single answer from a model.', {
    characters: wholeNumber(
      { min: 1_000, max: 1_000_000, default: 50_000 },
      "Maximum length of an answer's text; the answer is cut off there, with a notice.",
    ),
    messages: wholeNumber(
      { min: 2, max: 100, default: 20 },
      'Maximum number of messages for an answer in a chat. A longer answer is sent as a file if possible, and otherwise cut.',
    ),
    reasoningCharacters: wholeNumber(
      { min: 1_000, max: 10_000_000, default: 400_000 },
      'Maximum length of the reasoning before an answer.',
    ),
    argumentBytes: wholeNumber(
      { min: 1_000, max: 10_000_000, default: 256_000 },
      'Maximum size of the arguments of all tool calls in one answer; calls beyond this size are not run.',
    ),
    calls: wholeNumber({ min: 1, max: 100, default: 20 }, 'Calls of tools.'),
  }),
  modelAwayMinutes: numberField(
    { min: 0, max: 60, default: 10 },
    'How long a question is kept and retried while its model is unavailable; 0 means that it fails immediately.',
  ),
  waitingPerConversation: wholeNumber(
    { min: 1, max: 10_000, default: 50 },
    'Maximum number of waiting messages in one conversation.',
  ),
  totalWaiting: wholeNumber(
    { min: 1, max: 10_000_000, default: 50_000 },
    'Maximum number of waiting messages in all conversations together.',
  ),
  groupContextMessages: wholeNumber(
    { min: 0, max: 1_000, default: 50 },
    'Number of messages in a group that do not address the bot and are kept for its next turn; 0 means none.',
  ),
  hangSeconds: z
    .union([z.int().min(5).max(3_600), z.literal('off')])
    .default(30)
    .describe(
      'A process that is frozen for this long is ended; when this happens a second time, its current work is given up. off: it is never ended.',
    ),
  subAgents: defineSection('Limits for one sub-agent (delegate_task) across all of its turns.', {
    depth: wholeNumber(
      { min: 1, max: 5, default: 2 },
      'Maximum depth to which a task may be delegated.',
    ),
    concurrent: wholeNumber(
      { min: 1, max: 50, default: 3 },
      'Maximum number of tasks that run at the same time, per conversation.',
    ),
    steps: wholeNumber({ min: 1, max: 200, default: 20 }, 'Maximum number of model calls.'),
    minutes: numberField(
      { above: 0, max: 24 * 60, default: 30 },
      'Maximum time from the start of a task to its result.',
    ),
    tokens: wholeNumber({ above: 0, default: 500_000 }, 'Input and output tokens together.'),
  }),
});

const Cap = z.strictObject({
  tokens: z
    .int()
    .positive()
    .optional()
    .describe(
      'Input and output tokens together; input from the provider’s cache counts at its share of the price.',
    ),
  usd: z
    .number()
    .positive()
    .optional()
    .describe('US dollars; applies only to models whose price is known.'),
});

/** `spend`: the daily limits for model usage (G17). */
export const Spend = defineSection(
  "Limits on tokens and money; a day ends at midnight in the agent's time zone.",
  {
    perPersonDaily: Cap.optional().describe('Daily limit for one person in all chats.'),
    perStrangerDaily: z
      .union([Cap, z.literal('off')])
      .optional()
      .describe(
        'Daily limit for a person who only has open access. Default: perPersonDaily, or else 1,500,000 tokens and 1 US dollar; off: no limit.',
      ),
    perGroupDaily: Cap.optional().describe('Daily limit for all people in a group together.'),
    totalDaily: Cap.optional().describe('Daily limit for everyone together, including owners.'),
    capOwners: flag(false, 'true: perPersonDaily and perGroupDaily apply to owners as well.'),
  },
);
export type Spend = z.infer<typeof Spend>;

/**
 * The daily cap for a stranger unless the settings set one: more than a hundred short messages if
 * the provider does not report cached input, and a dollar if prices are known. See docs/costs.md
 * for the figures.
 */
const DEFAULT_STRANGER_CAP = { tokens: 1_500_000, usd: 1 } as const;

/**
 * Returns the cap for strangers in addition to `perPersonDaily`, and whether the settings set it.
 */
export function getStrangerCap({
  perStrangerDaily,
  perPersonDaily,
}: Pick<Spend, 'perStrangerDaily' | 'perPersonDaily'>): {
  readonly cap: z.infer<typeof Cap> | null;
  readonly from: 'settings' | 'default';
} {
  if (perStrangerDaily === 'off') return { cap: null, from: 'settings' };
  if (perStrangerDaily !== undefined) return { cap: perStrangerDaily, from: 'settings' };
  if (perPersonDaily !== undefined) return { cap: perPersonDaily, from: 'settings' };
  return { cap: DEFAULT_STRANGER_CAP, from: 'default' };
}
