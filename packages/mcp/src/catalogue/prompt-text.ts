import { z } from 'zod';
import { cleanLines } from '../clean-text.ts';
import { resultText } from './result-text.ts';

/** A prompt of a server, filled in. */
export interface PromptText {
  readonly text: string;
}

const Filled = z.object({
  messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.unknown() })),
});

/** The messages of a filled-in prompt as one text; who is to have said them is told where it matters. */
export function promptText(said: unknown): PromptText {
  const { messages } = Filled.parse(said);
  const parts = messages.map(({ role, content }) => {
    const { text } = resultText({ content: [content] });
    return role === 'user' ? text : `(As an example of an answer:) ${text}`;
  });
  return { text: cleanLines(parts.join('\n\n')) };
}
