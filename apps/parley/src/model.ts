import type { Runtime } from '@parley/core';
import type { Scrub, Secrets } from '@parley/core/telemetry';
import {
  type ChatModel,
  createChatModel,
  type HiddenAnswerParts,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
} from '@parley/models';
import type { OpenLog, StartOptions } from './process-options.ts';
import type { LoadedSettings } from './settings.ts';

export type ChosenModel = ReturnType<typeof chooseModel>;

export function chooseModel(
  settings: LoadedSettings['settings'],
  {
    folder,
    settingsToEdit = folder.settingsFile,
    env,
    clock,
    monotonic,
    log,
    secrets,
    meter,
  }: StartOptions & OpenLog & Pick<Runtime, 'meter'>,
) {
  const chosen = createChatModel(settings.model, {
    settingsFile: settingsToEdit,
    clock,
    monotonic,
    logger: log,
    meter,
    timeZone: settings.agent.timeZone,
    bounds: settings.limits.answer,
    ...(env.OLLAMA_HOST === undefined ? {} : { ollamaHost: env.OLLAMA_HOST }),
  });
  let line = chosen.model.id;
  const known = chosen.why.then((why) => {
    line = formatModelLine(why);
    return line;
  });
  /**
   * `line` names the answering model and, if known, the reason for the choice. `known` resolves to
   * the final text, and `choices` are the models that `/model` offers.
   */
  const choices = new Map(
    [...chosen.choices].map(
      ([name, one]) => [name, { ...one, model: createScrubbedModel(one.model, secrets) }] as const,
    ),
  );
  return { model: createScrubbedModel(chosen.model, secrets), choices, line: () => line, known };
}

/**
 * Replaces the colon with a dash, because `offline – no model …` reads better after "Model:" than
 * `offline: no model …`.
 */
function formatModelLine(why: string): string {
  return why.replace(': ', ' – ');
}

/**
 * Wraps a model so that secrets from the settings never reach it and never appear in its output
 * (G18). This holds even if a tool, a page or an MCP server has echoed a secret, and even while an
 * answer is streamed. The history contains the scrubbed text.
 */
export function createScrubbedModel(
  model: ChatModel,
  secrets: Pick<Secrets, 'scrub' | 'stream'>,
): ChatModel {
  const scrubTool = createToolScrubber(secrets.scrub);
  return {
    get id() {
      return model.id;
    },
    get learnedTokens() {
      return model.learnedTokens ?? null;
    },
    learnTokens: (tokens) => model.learnTokens?.(tokens),
    stream: (request, signal) =>
      scrubEvents(model.stream(scrubRequest(request, secrets.scrub, scrubTool), signal), secrets),
  };
}

async function* scrubEvents(
  events: AsyncIterable<ModelEvent>,
  { scrub, stream }: Pick<Secrets, 'scrub' | 'stream'>,
): AsyncIterable<ModelEvent> {
  let growing = stream();
  for await (const event of events) {
    if (event.type === 'restart') {
      growing = stream();
      yield event;
    } else if (event.type === 'text') {
      const text = growing.push(event.text);
      if (text !== '') yield { type: 'text', text };
    } else if (event.type === 'tool-call') {
      yield { ...event, call: { ...event.call, arguments: scrub(event.call.arguments) } };
    } else {
      const text = growing.end();
      if (text !== '') yield { type: 'text', text };
      const aside = scrubAside(event.aside, scrub);
      yield { ...event, text: scrub(event.text), ...(aside !== undefined && { aside }) };
    }
  }
}

function scrubAside(
  aside: HiddenAnswerParts | undefined,
  scrub: Scrub,
): HiddenAnswerParts | undefined {
  if (aside === undefined) return undefined;
  const { reasoning, dropped } = aside;
  const clean = dropped.map(({ raw, problem }) => ({ raw: scrub(raw), problem: scrub(problem) }));
  return { ...aside, reasoning: scrub(reasoning), dropped: clean };
}

function scrubRequest(
  request: ModelRequest,
  scrub: Scrub,
  scrubTool: (tool: ModelTool) => ModelTool,
): ModelRequest {
  const { system, messages, tools } = request;
  return {
    ...request,
    system: system.map((layer) => ({ ...layer, text: scrub(layer.text) })),
    messages: messages.map((message) => scrubMessage(message, scrub)),
    ...(tools !== undefined && { tools: tools.map(scrubTool) }),
  };
}

function scrubMessage(message: ModelMessage, scrub: Scrub): ModelMessage {
  const content = scrub(message.content);
  switch (message.role) {
    case 'tool':
      return { ...message, content };
    case 'assistant': {
      const { toolCalls } = message;
      if (toolCalls === undefined)
        return content === message.content ? message : { ...message, content };
      const clean = toolCalls.map((call) => ({ ...call, arguments: scrub(call.arguments) }));
      return { ...message, content, toolCalls: clean };
    }
    case 'user': {
      const { said, attached } = message;
      if (said === undefined && attached === undefined && content === message.content)
        return message;
      return {
        ...message,
        content,
        ...(said !== undefined && { said: scrub(said) }),
        ...(attached !== undefined && { attached: attached.map(scrub) }),
      };
    }
  }
}

/**
 * MCP servers write their own tool descriptions, which may echo secrets from the request. Each tool
 * is serialized only once, and `scrub` caches clean text until a secret is added.
 */
function createToolScrubber(scrub: Scrub): (tool: ModelTool) => ModelTool {
  const texts = new WeakMap<ModelTool, string>();
  return (tool) => {
    const written = texts.get(tool) ?? JSON.stringify(tool);
    texts.set(tool, written);
    const clean = scrub(written);
    return clean === written ? tool : JSON.parse(clean);
  };
}
