import { z } from 'zod';
import { defineSection, flag, numberField, wholeNumber } from './fields.ts';

/** `limits`: what is accepted, what may be pending and what a turn may use (D07, G01). */
export const Limits = defineSection('Bounds; what exceeds them is refused with a notice.', {
  messageCharacters: wholeNumber(
    { min: 1, max: 1_000_000, default: 32_000 },
    'Longest message that is taken, in characters.',
  ),
  turnSteps: wholeNumber(
    { min: 1, max: 200, default: 20 },
    'How often the model is asked in one turn; the last time it has to answer.',
  ),
  turnMinutes: numberField(
    { above: 0, max: 60, default: 10 },
    'After this the model is asked for its answer once more.',
  ),
  turnTokens: wholeNumber(
    { above: 0, default: 1_000_000 },
    'The same, of all steps of a turn together.',
  ),
  answer: defineSection('The most that one answer of a model may have.', {
    characters: wholeNumber(
      { min: 1_000, max: 1_000_000, default: 50_000 },
      'Of its text; the answer ends there, and says so.',
    ),
    messages: wholeNumber(
      { min: 2, max: 100, default: 20 },
      'In a chat. A longer answer goes as a file where files can be sent; elsewhere it is cut.',
    ),
    reasoningCharacters: wholeNumber(
      { min: 1_000, max: 10_000_000, default: 400_000 },
      'What it thinks before it says anything.',
    ),
    argumentBytes: wholeNumber(
      { min: 1_000, max: 10_000_000, default: 256_000 },
      'The arguments of all its calls of tools together; a call beyond that is not run.',
    ),
    calls: wholeNumber({ min: 1, max: 100, default: 20 }, 'Calls of tools.'),
  }),
  modelAwayMinutes: numberField(
    { min: 0, max: 60, default: 10 },
    'How long a question is kept and asked again while its model is away; 0: it fails at once.',
  ),
  waitingPerConversation: wholeNumber(
    { min: 1, max: 10_000, default: 50 },
    'Messages that may wait in one conversation.',
  ),
  totalWaiting: wholeNumber(
    { min: 1, max: 10_000_000, default: 50_000 },
    'Messages that may wait in all conversations together.',
  ),
  groupContextMessages: wholeNumber(
    { min: 0, max: 1_000, default: 50 },
    'Messages of a group that do not address the bot and are kept for its next turn there; 0: none.',
  ),
  hangSeconds: z
    .union([z.int().min(5).max(3_600), z.literal('off')])
    .default(30)
    .describe(
      'A process that stands still for so long is ended, and what it was doing is given up the second time; off: it is never ended.',
    ),
  subAgents: defineSection('What one sub-agent (delegate_task) may use over all its turns.', {
    depth: wholeNumber({ min: 1, max: 5, default: 2 }, 'How often a task may be handed on.'),
    concurrent: wholeNumber(
      { min: 1, max: 50, default: 3 },
      'Running at a time, of a conversation.',
    ),
    steps: wholeNumber({ min: 1, max: 200, default: 20 }, 'How often the model is asked.'),
    minutes: numberField({ above: 0, max: 24 * 60, default: 30 }, 'From its start to its result.'),
    tokens: wholeNumber({ above: 0, default: 500_000 }, 'In and out together.'),
  }),
});

const Cap = z.strictObject({
  tokens: z
    .int()
    .positive()
    .optional()
    .describe(
      'Tokens in and out together; input from the provider’s cache at its share of the price.',
    ),
  usd: z
    .number()
    .positive()
    .optional()
    .describe('US dollars; holds only for models whose price is known.'),
});

/** `spend`: the daily usage of the models (G17). */
export const Spend = defineSection(
  'Bounds on tokens and money; a day ends at midnight in the time zone of the agent.',
  {
    perPersonDaily: Cap.optional().describe('What one person may use in a day, in all chats.'),
    perStrangerDaily: z
      .union([Cap, z.literal('off')])
      .optional()
      .describe(
        'What a person with open access only may use in a day. Without it perPersonDaily, or else 1,500,000 tokens and 1 US dollar; off: no cap.',
      ),
    perGroupDaily: Cap.optional().describe('What all people of a group may use there in a day.'),
    totalDaily: Cap.optional().describe('What everyone may use together, owners included.'),
    capOwners: flag(false, 'true: perPersonDaily and perGroupDaily hold for owners, too.'),
  },
);
export type Spend = z.infer<typeof Spend>;

/**
 * The daily cap for a stranger unless the settings name one: more than a hundred short messages if
 * the provider reports no cached input, and a dollar if prices are known. See docs/costs.md for the
 * figures.
 */
const DEFAULT_STRANGER_CAP = { tokens: 1_500_000, usd: 1 } as const;

/** The cap for strangers besides `perPersonDaily`, and whether the settings name it. */
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
