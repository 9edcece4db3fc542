import { z } from 'zod';

const Status = z.object({
  channels: z.array(z.object({ state: z.looseObject({ code: z.string().optional() }) })),
});

/**
 * What a phone would read: the pasted text of a code, or what a Parley shows whose page's address, as
 * `parley start` prints it, was pasted.
 * @throws Error when that Parley shows no code
 */
export async function codeToScan(pasted: string): Promise<string> {
  const page = URL.canParse(pasted) ? new URL(pasted) : undefined;
  const token = page?.searchParams.get('token');
  if (page === undefined || !token) return pasted;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(new URL('/api/status', page).href, { headers });
  const { channels } = Status.parse(await answer.json());
  const code = channels.map(({ state }) => state.code).find((found) => found !== undefined);
  if (code === undefined) throw new Error('That Parley shows no code to scan');
  return code;
}
