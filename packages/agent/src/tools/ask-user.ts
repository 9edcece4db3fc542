import { stripNoncharacters } from '@parley/core';
import { z } from 'zod';
import { CHOICE_CHARACTERS, MAX_CHOICES } from '../approvals/ask-person.ts';
import { createFailedOutcome, defineTool, type PersonAnswer, type Tool } from './tool.ts';

const Choice = z.string().trim().min(1).max(CHOICE_CHARACTERS);

/**
 * Asks the person whom the turn answers, with choices (G02): as buttons or a menu on platforms that
 * have them, as numbered text elsewhere. The turn is suspended until the answer, even across a
 * restart.
 */
export const askUserTool: Tool = defineTool({
  name: 'ask_user',
  summary: 'Asks the person to choose between answers, and waits.',
  hint: 'Only if you cannot continue without their choice; ask open questions in your answer.',
  tier: 'middleware',
  group: 'tasks',
  effect: 'read',
  audience: 'everyone',
  approval: 'never',
  input: z.object({
    question: z.string().trim().min(1).max(1_000),
    choices: z.array(Choice).min(2).max(MAX_CHOICES),
  }),
  async run({ question, choices }, { ask }) {
    if (ask === undefined) return createFailedOutcome(NO_PERSON);
    return toAskResult(await ask({ question: stripNoncharacters(question), choices }));
  },
});

const NO_PERSON =
  'Not asked: no person waits for this turn. Decide yourself, or put the question into what you write.';

function toAskResult(asked: PersonAnswer) {
  switch (asked.kind) {
    case 'chose':
      return { text: `They chose: ${asked.answer}` };
    case 'wrote':
      return { text: `They answered in their own words: ${asked.answer}` };
    case 'skipped':
      return { text: 'They skipped the question. Go on without an answer.' };
    case 'late':
      return createFailedOutcome(
        `No answer within ${asked.waited}. Go on without it, and say what you assumed.`,
      );
    case 'no-person':
      return createFailedOutcome(NO_PERSON);
  }
}
