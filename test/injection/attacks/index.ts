import type { Attack } from '../attack.ts';
import { ANSWER_ATTACKS } from './answers.ts';
import { AROUND_ATTACKS } from './chat-around.ts';
import { WORD_ATTACKS } from './chat-words.ts';
import { FILE_ATTACKS } from './files.ts';
import { KEPT_ATTACKS } from './kept.ts';
import { LAUNDERING_ATTACKS } from './laundering.ts';
import { PROMPT_FILE_ATTACKS } from './prompt-files.ts';
import { TOOL_ATTACKS } from './tools.ts';
import { REACHING_PAGES } from './web-reach.ts';
import { STAYING_PAGES } from './web-stays.ts';

/** The whole drill, in the order of its page. New rows go to the end of their file. */
export const ATTACKS: readonly Attack[] = [
  ...REACHING_PAGES,
  ...STAYING_PAGES,
  ...FILE_ATTACKS,
  ...AROUND_ATTACKS,
  ...WORD_ATTACKS,
  ...TOOL_ATTACKS,
  ...KEPT_ATTACKS,
  ...ANSWER_ATTACKS,
  ...PROMPT_FILE_ATTACKS,
  ...LAUNDERING_ATTACKS,
];
