import { z } from 'zod';

const TextPart = z.looseObject({ type: z.literal('text'), text: z.string() });
const DATA_URL = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+=*)$/;
/** Pictures by URL are refused, because the tests must not make a model server fetch them. */
const ImagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({ url: z.string().regex(DATA_URL, 'a picture as a data URL') }),
});
/** A tool offered to the model. */
const OfferedTool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    description: z.string().optional(),
    parameters: z.looseObject({ type: z.literal('object') }),
  }),
});
/** A call as the model made it; its arguments are a JSON string. */
const MadeCall = z.looseObject({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
const Content = z.union([z.string(), z.array(z.union([TextPart, ImagePart]))]).nullish();

/**
 * A body of `POST /v1/chat/completions`, with the fields the double needs; the rest is kept as
 * sent.
 */
export const ChatRequest = z.looseObject({
  model: z.string().min(1),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(['system', 'user', 'assistant', 'tool']),
        content: Content,
        tool_calls: z.array(MadeCall).min(1).optional(),
        tool_call_id: z.string().optional(),
      }),
    )
    .min(1),
  tools: z.array(OfferedTool).min(1).optional(),
  stream: z.boolean().default(false),
  stream_options: z.looseObject({ include_usage: z.boolean().default(false) }).nullish(),
  max_tokens: z.int().positive().nullish(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;
export type WireMessage = ChatRequest['messages'][number];

/** The plain text of a message, whether it was sent as a string or as parts. */
export function getMessageText(message: WireMessage | undefined): string {
  const content = message?.content ?? '';
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** A picture in a request. */
export interface SeenImage {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** The pictures of a message. */
export function listImages(message: WireMessage | undefined): SeenImage[] {
  const content = message?.content ?? '';
  if (typeof content === 'string') return [];
  return content.flatMap((part) => {
    if (part.type !== 'image_url') return [];
    const [, mimeType = '', base64 = ''] = DATA_URL.exec(part.image_url.url) ?? [];
    return [{ mimeType, bytes: new Uint8Array(Buffer.from(base64, 'base64')) }];
  });
}

/** The names of the tools that a request offers, in order. */
export function listToolNames({ tools = [] }: ChatRequest): string[] {
  return tools.map((tool) => tool.function.name);
}

/**
 * What a strict chat template would refuse: more than one system message or a system message in the
 * middle, empty user messages, two adjacent messages of the same role, calls without results or
 * results without calls. Null when the request is valid.
 */
export function findRefusal(request: ChatRequest): string | null {
  let previous = '';
  let unanswered: string[] = [];
  for (const [index, message] of request.messages.entries()) {
    if (message.role === 'system' && index > 0) return 'System message must be at the beginning.';
    if (
      message.role === 'user' &&
      getMessageText(message).trim() === '' &&
      listImages(message).length === 0
    )
      return 'A user message is empty.';
    if (message.role === previous && message.role !== 'tool') {
      return 'Conversation roles must alternate user/assistant/user/assistant/...';
    }
    if (message.role === 'tool') {
      const id = message.tool_call_id ?? '';
      if (!unanswered.includes(id)) return `No tool was called with the id "${id}".`;
      unanswered = unanswered.filter((open) => open !== id);
    } else if (unanswered.length > 0) return `There is no result of ${unanswered.join(', ')}.`;
    const made = (message.tool_calls ?? []).map(({ id }) => id);
    if (new Set(made).size < made.length) return 'Two calls have the same id.';
    unanswered.push(...made);
    previous = message.role;
  }
  if (unanswered.length > 0) return `There is no result of ${unanswered.join(', ')}.`;
  return previous === 'system' ? 'There is no user message.' : null;
}

/** Servers that refuse a user message after tool results. */
export const STRICT_SERVERS = ['mistral', 'vllm', 'llama.cpp', 'openrouter'] as const;
export type StrictServer = (typeof STRICT_SERVERS)[number];

const AFTER_TOOL = "Unexpected role 'user' after role 'tool'";
const MISTRAL = {
  object: 'error',
  message: AFTER_TOOL,
  type: 'invalid_request_message_order',
  param: null,
  code: '3230',
};
/** The error responses of these servers, as observed. */
const STRICT_ANSWERS: Readonly<Record<StrictServer, { status: number; body: object }>> = {
  mistral: { status: 400, body: MISTRAL },
  vllm: {
    status: 400,
    body: { error: { message: AFTER_TOOL, type: 'BadRequestError', param: null, code: 400 } },
  },
  'llama.cpp': {
    status: 500,
    body: {
      error: {
        code: 500,
        message:
          "\n------------\nWhile executing CallExpression at line 46, column 32 in source:\n...== 0) %}↵            {{- raise_exception('After the optional system message, con...\n                                           ^\nError: Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.",
        type: 'server_error',
      },
    },
  },
  openrouter: {
    status: 400,
    body: {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: JSON.stringify(MISTRAL), provider_name: 'Mistral' },
      },
    },
  },
};

/** The response of a strict server to a request; null when it accepts the request. */
export function getStrictRefusal({ messages }: ChatRequest, server: StrictServer) {
  const isAfterTool = messages.some(
    ({ role }, index) => role === 'user' && messages[index - 1]?.role === 'tool',
  );
  return isAfterTool ? STRICT_ANSWERS[server] : null;
}
