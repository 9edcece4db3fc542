import { neutralizeTemplateTokens } from '@parley/core';
import {
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
  parseToolArguments,
} from './chat-model.ts';

/**
 * Creates the function that removes every chat template token from a request (P18), whether it was
 * written by a person, a web page, a workspace file, a tool's server or the model itself. It is the
 * last step before every request to a provider; Parley's own text contains no such tokens. Each
 * tool definition is searched once.
 */
export function createTokenNeutralizer(): (request: ModelRequest) => ModelRequest {
  const known = new WeakMap<ModelTool, ModelTool>();
  const toolOf = (tool: ModelTool): ModelTool => {
    const made = known.get(tool) ?? neutralizeTool(tool);
    known.set(tool, made);
    return made;
  };
  return ({ system, messages, tools, ...rest }) => ({
    ...rest,
    system: system.map((layer) => ({ ...layer, text: neutralizeTemplateTokens(layer.text) })),
    messages: messages.map(neutralizeMessage),
    ...(tools && { tools: tools.map(toolOf) }),
  });
}

/** Returns a tool without chat template tokens, including its schema. */
export function neutralizeTool({ name, description, inputSchema }: ModelTool): ModelTool {
  return {
    name: neutralizeTemplateTokens(name),
    description: neutralizeTemplateTokens(description),
    inputSchema: neutralizeRecord(inputSchema),
  };
}

/** Returns a message without chat template tokens; the same object if it has none. */
export function neutralizeMessage(message: ModelMessage): ModelMessage {
  const content = neutralizeTemplateTokens(message.content);
  if (message.role === 'tool')
    return { ...message, content, name: neutralizeTemplateTokens(message.name) };
  if (message.role === 'assistant' && message.toolCalls !== undefined) {
    return { ...message, content, toolCalls: message.toolCalls.map(neutralizeCall) };
  }
  return content === message.content ? message : { ...message, content };
}

/** Operates on values rather than on JSON text, in which a bracket may be written as `\u003c`. */
function neutralizeCall(call: ModelToolCall): ModelToolCall {
  const { name, arguments: written } = call;
  const given = /[<[\\]/.test(written) ? parseToolArguments(call) : null;
  return {
    ...call,
    name: neutralizeTemplateTokens(name),
    arguments:
      given === null ? neutralizeTemplateTokens(written) : JSON.stringify(neutralizeRecord(given)),
  };
}

/** Removes the tokens from the keys and all strings in a JSON object. */
export function neutralizeRecord(
  record: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      neutralizeTemplateTokens(key),
      neutralizeValue(value),
    ]),
  );
}

function neutralizeValue(value: unknown): unknown {
  if (typeof value === 'string') return neutralizeTemplateTokens(value);
  if (Array.isArray(value)) return value.map(neutralizeValue);
  return typeof value === 'object' && value !== null ? neutralizeRecord({ ...value }) : value;
}
