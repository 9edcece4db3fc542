import { ParleyError } from '@parley/core';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { AppEnv } from './access.ts';
import { bodyOf, orRefused, uncachedRoutes } from './json-routes.ts';

/** Signing in at MCP servers that ask for it (G03). Both throw ParleyError with a text for people. */
export interface McpSignInPage {
  /** The address to send the browser to; null: there is no such server. */
  begin(
    server: string,
    round: { readonly redirectUrl: string; readonly session: string },
  ): Promise<string | null>;
  /** The name of the server where it worked. */
  finish(answer: SignedIn, session: string): Promise<string>;
}

const Begin = z.strictObject({ server: z.string().min(1).max(100) });

const Word = z.string().max(4_000);
/** The parameters that the authorization server added to the address of the page. */
const SignedIn = z.object({
  state: Word.min(1),
  code: Word.optional(),
  iss: Word.optional(),
  error: Word.optional(),
  errorDescription: Word.optional(),
});
export type SignedIn = z.infer<typeof SignedIn>;

/**
 * Below `/api/mcp`, for owners. The browser comes back to the page itself, which brings what it was given here: so it counts
 * only with the session that began it, and no address that another site can open does anything.
 */
export function mcpRoutes(page: McpSignInPage): Hono<AppEnv> {
  const app = uncachedRoutes<AppEnv>();
  app.post('/sign-in', async (c) => {
    const order = await bodyOf(c, Begin);
    const origin = c.req.header('origin');
    if (order === undefined) return c.json({ error: 'The name of a server is missing.' }, 400);
    if (origin === undefined) return c.json({ error: 'Sign in on the page, under Status.' }, 400);
    const round = { redirectUrl: `${origin}/`, session: sessionOf(c.get('caller')) };
    return orRefused(c, startSignIn(page, order.server, round));
  });
  app.post('/signed-in', async (c) => {
    const answer = await bodyOf(c, SignedIn);
    if (answer === undefined) return c.json({ error: 'This is no answer to a sign-in.' }, 400);
    return orRefused(c, finishSignIn(page, answer, sessionOf(c.get('caller'))));
  });
  return app;
}

function sessionOf({ session }: AppEnv['Variables']['caller']): string {
  return session?.id ?? 'token';
}

async function startSignIn(
  page: McpSignInPage,
  server: string,
  round: { readonly redirectUrl: string; readonly session: string },
): Promise<{ readonly url: string }> {
  const url = await page.begin(server, round);
  if (url !== null) return { url };
  const message = `There is no MCP server ${server} over HTTP in the settings.`;
  throw new ParleyError({ code: 'mcp-unknown', message, retryable: false });
}

async function finishSignIn(
  page: McpSignInPage,
  answer: SignedIn,
  session: string,
): Promise<{ readonly text: string }> {
  return { text: `Signed in at ${await page.finish(answer, session)}.` };
}
