// Shared by the other bots: one streaming model call, and a prompt of Parley's size.

export interface BotMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The model's answer and its token counts. */
export interface ModelAnswer {
  readonly text: string;
  readonly tokensIn: number;
  readonly tokensOut: number;
}

const SENTENCE =
  'Answer shortly, keep to what you know, and say so when you do not know something. ';

/** As long as the system prompt that Parley sends for a stranger while its workspace is empty. */
export const SYSTEM = SENTENCE.repeat(200).slice(0, 9_500);

/** The same number of tools, with the same 6,600 characters, as Parley offers to that stranger. */
export const TOOLS = Array.from({ length: 11 }, (_, index) => ({
  type: 'function',
  function: {
    name: `tool_${index}`,
    description: SENTENCE.repeat(10).slice(0, 380),
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: SENTENCE.slice(0, 60) } },
      required: ['query'],
    },
  },
}));

/** Asks the model, and reads the whole answer from the stream. Throws when the model refuses. */
export async function askModel(
  messages: readonly BotMessage[],
  tools?: readonly object[],
): Promise<ModelAnswer> {
  const options = { stream: true, stream_options: { include_usage: true } };
  const response = await fetch(`${process.env.MODEL_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'double', ...options, messages, tools }),
  });
  if (!response.ok || response.body === null) throw new Error(`model: ${response.status}`);
  const answer = { text: '', tokensIn: 0, tokensOut: 0 };
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of response.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue;
      const { choices, usage } = JSON.parse(line.slice('data: '.length));
      answer.text += choices[0]?.delta.content ?? '';
      answer.tokensIn += usage?.prompt_tokens ?? 0;
      answer.tokensOut += usage?.completion_tokens ?? 0;
    }
  }
  return answer;
}
