import { createRefusalError, defineChangeOperation } from '@parley/core';
import { z } from 'zod';

const Word = z.string().max(4_000);
/** The parameters that the authorization server added to the page's address. */
const SignedIn = {
  state: Word.min(1),
  code: Word.optional(),
  iss: Word.optional(),
  error: Word.optional(),
  errorDescription: Word.optional(),
};

/**
 * Signs in to the MCP servers that require it. Both functions throw ParleyError with a message for
 * people.
 */
export interface McpSignIns {
  /** Returns the address to open in the browser; null if the server does not exist. */
  begin(
    server: string,
    round: { readonly redirectUrl: string; readonly session: string },
  ): Promise<string | null>;
  /** Returns the name of the server that accepted the sign-in. */
  finish(answer: z.output<z.ZodObject<typeof SignedIn>>, session: string): Promise<string>;
}

interface McpOperationDeps {
  /** Returns undefined if the settings contain no MCP servers. */
  mcpSignIns(): Promise<McpSignIns | undefined>;
}

const RUNNING = { running: true } as const;
const TOKEN = 'token';

/**
 * Operations for signing in to MCP servers (G03). The browser returns to the page, which sends the
 * parameters from its address in a POST request. A sign-in is therefore valid only in the session
 * that started it, and an address opened by another site has no effect.
 */
export const operations = {
  'sign-in': defineChangeOperation(
    'Start signing in to an MCP server; returns the address for the browser',
    { server: z.string().min(1).max(100) },
    async (
      { mcpSignIns }: McpOperationDeps,
      { server },
      { caller: { origin, session = TOKEN } },
    ) => {
      if (origin === undefined)
        throw createRefusalError('no-page', 'Sign in on the page, under Status.');
      const round = { redirectUrl: `${origin}/`, session };
      const url = await (await mcpSignIns())?.begin(server, round);
      if (url) return { url };
      const message = `The settings do not contain an MCP server ${server} that is reached over HTTP.`;
      throw createRefusalError('mcp-unknown', message);
    },
    RUNNING,
  ),
  'signed-in': defineChangeOperation(
    'Finish signing in to an MCP server with the parameters that the browser received',
    SignedIn,
    async ({ mcpSignIns }: McpOperationDeps, answer, { caller: { session = TOKEN } }) => {
      const server = await (await mcpSignIns())?.finish(answer, session);
      if (server === undefined)
        throw createRefusalError('mcp-unknown', 'The settings do not contain any MCP servers.');
      return { text: `Signed in to ${server}.` };
    },
    RUNNING,
  ),
};
