import { withoutTemplateTokens as harmless } from '@parley/contracts';
import type { ModelMessage, ModelRequest, ModelTool, ModelToolCall } from './chat-model.ts';
import { toolArguments } from './tool-arguments.ts';

/**
 * Makes the function that takes every token of a chat template out of a request (P18), no matter who
 * wrote it: a person, a page, a file of the workspace, a server in the description of its tool, the
 * model itself. Every call of a provider passes here last, so no source can be forgotten; Parley's own
 * text holds none. A tool is looked through once.
 */
export function harmlessRequests(): (request: ModelRequest) => ModelRequest {
  const known = new WeakMap<ModelTool, ModelTool>();
  const toolOf = (tool: ModelTool): ModelTool => {
    const made = known.get(tool) ?? harmlessTool(tool);
    known.set(tool, made);
    return made;
  };
  return ({ system, messages, tools, ...rest }) => ({
    ...rest,
    system: system.map((layer) => ({ ...layer, text: harmless(layer.text) })),
    messages: messages.map(harmlessMessage),
    ...(tools && { tools: tools.map(toolOf) }),
  });
}

function harmlessTool({ name, description, inputSchema }: ModelTool): ModelTool {
  return {
    name: harmless(name),
    description: harmless(description),
    inputSchema: harmlessRecord(inputSchema),
  };
}

function harmlessMessage(message: ModelMessage): ModelMessage {
  const content = harmless(message.content);
  switch (message.role) {
    case 'user':
      return { ...message, content };
    case 'tool':
      return { ...message, content, name: harmless(message.name) };
    case 'assistant': {
      const { toolCalls } = message;
      return { ...message, content, ...(toolCalls && { toolCalls: toolCalls.map(harmlessCall) }) };
    }
  }
}

/** As values and not as the text of the JSON, in which a bracket may be written `\u003c`. */
function harmlessCall(call: ModelToolCall): ModelToolCall {
  const { name, arguments: written } = call;
  const given = /[<[\\]/.test(written) ? toolArguments(call) : null;
  return {
    ...call,
    name: harmless(name),
    arguments: given === null ? harmless(written) : JSON.stringify(harmlessRecord(given)),
  };
}

function harmlessRecord(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [harmless(key), harmlessValue(value)]),
  );
}

function harmlessValue(value: unknown): unknown {
  if (typeof value === 'string') return harmless(value);
  if (Array.isArray(value)) return value.map(harmlessValue);
  return typeof value === 'object' && value !== null ? harmlessRecord({ ...value }) : value;
}
