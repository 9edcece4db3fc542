import type { McpPrompt, McpServerView } from '@parley/tools/mcp';

/** A prompt of a server as somebody typed it. */
export interface TypedPrompt {
  readonly server: string;
  readonly prompt: string;
  readonly words: string;
}

/** Reads `/mcp__server__prompt words`; null for all other text. */
export function parsePromptCommand(text: string): TypedPrompt | null {
  const [, server, prompt, words = ''] =
    /^\s*\/mcp__([a-z0-9]+)__([\w-]{1,200}?)(?:@\w+)?(?:\s+(.*))?$/is.exec(text) ?? [];
  if (server === undefined || prompt === undefined) return null;
  return { server: server.toLowerCase(), prompt, words: words.trim() };
}

/** What a person types to pick a prompt; null where its name cannot be typed. */
export function promptCommand(server: string, { name, arguments: args }: McpPrompt): string | null {
  if (!/^[\w-]+$/.test(name)) return null;
  const [only] = args;
  const words =
    only !== undefined && args.length === 1
      ? [only.name]
      : args.map((argument) => `${argument.name}=…`);
  return [`/mcp__${server}__${name}`, ...words].join(' ');
}

/** The prompt that is meant, whatever case it was typed in. */
export function findPrompt(
  views: readonly McpServerView[],
  { server, prompt }: TypedPrompt,
): McpPrompt | undefined {
  const prompts = views.find(({ name }) => name === server)?.prompts ?? [];
  const wanted = prompt.toLowerCase();
  return (
    prompts.find(({ name }) => name === prompt) ??
    prompts.find(({ name }) => name.toLowerCase() === wanted)
  );
}

/**
 * The arguments in what was typed: `name=value name="two words"`, or all of it for the first argument.
 * What is missing is told by name.
 */
export function promptArguments(
  { arguments: args }: McpPrompt,
  words: string,
): { readonly values: Readonly<Record<string, string>>; readonly missing: readonly string[] } {
  const known = new Set(args.map(({ name }) => name));
  const pairs = [...words.matchAll(/([\w-]+)=(?:"([^"]*)"|(\S*))/g)]
    .map(([, name = '', quoted, plain = '']) => [name, quoted ?? plain] as const)
    .filter(([name]) => known.has(name));
  const [first] = args;
  const whole = first !== undefined && pairs.length === 0 && words !== '';
  const values = Object.fromEntries(whole ? [[first.name, words]] : pairs);
  const missing = args
    .filter(({ name, required }) => required && values[name] === undefined)
    .map(({ name }) => name);
  return { values, missing };
}
