import type { CleanSchema } from './clean-schema.ts';

/** A tool of a server, cleaned: nothing of it can be mistaken for words of Parley. */
export interface McpTool {
  /** As the server calls it; sent back to it and shown to nobody. */
  readonly name: string;
  /** One line; empty where the server says nothing. */
  readonly description: string;
  /** Of its arguments, always an object. */
  readonly schema: CleanSchema;
  /** The server says that it changes nothing. It may lie. */
  readonly readOnly: boolean;
}

/** One argument of a prompt. */
export interface McpPromptArgument {
  readonly name: string;
  readonly required: boolean;
}

/** A prompt of a server, cleaned. */
export interface McpPrompt {
  /** As the server calls it. */
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly McpPromptArgument[];
}

/** Something a server offers that cannot be used, and why. */
export interface McpRefused {
  readonly what: string;
  readonly reason: string;
}

/** All that a server offers. */
export interface McpCatalogue {
  readonly tools: readonly McpTool[];
  readonly prompts: readonly McpPrompt[];
  readonly refused: readonly McpRefused[];
}

/** Of a server that is not connected. */
export const NOTHING: McpCatalogue = { tools: [], prompts: [], refused: [] };
