import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { type ActionOutcome, performOperation, runOperation } from '../gateway.ts';
import type { ActionRunner } from '../ui/data.tsx';
import { ActionButton } from '../ui/widgets.tsx';
import { Who } from '../who.ts';

/** A button that opens the page on which an owner signs in to an MCP server. */
export function SignIn({
  server,
  run,
}: {
  readonly server: string;
  readonly run: ActionRunner['run'];
}): VNode | null {
  const isOwner = useContext(Who)?.role === 'owner';
  const begin = async (): Promise<ActionOutcome | undefined> => {
    const answer = await performOperation('mcp/sign-in', { server });
    if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
    location.assign(answer.value.url);
    return undefined;
  };
  if (!isOwner) return null;
  return <ActionButton label="Sign in" name={`Sign in to ${server}`} onPress={() => run(begin)} />;
}

/** Completes a sign-in; `search` is the query string that the MCP server's redirect added. */
export function completeSignIn(search: string): Promise<ActionOutcome | undefined> {
  const query = new URLSearchParams(search);
  const given = (name: string) => query.get(name) ?? undefined;
  const answer = {
    ...{ state: given('state') ?? '', code: given('code'), iss: given('iss') },
    ...{ error: given('error'), errorDescription: given('error_description') },
  };
  return runOperation('mcp/signed-in', answer, ({ text }) => text);
}
