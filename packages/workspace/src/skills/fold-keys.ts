import type { z } from 'zod';

/**
 * Makes `userInvocable`, `user-invocable` and `User_Invocable` one key, for a schema of lower-case
 * keys; what nobody sees in a key does not count. Two spellings in one block are an issue: which one was meant cannot be known.
 */
export function foldKeys(block: unknown, context: z.core.$RefinementCtx): unknown {
  if (typeof block !== 'object' || block === null || Array.isArray(block)) return block;
  const folded = new Map<string, unknown>();
  for (const [key, value] of Object.entries(block)) {
    const name = key
      .normalize('NFKC')
      .replaceAll(/[\s\p{Cf}_-]/gu, '')
      .toLowerCase();
    if (folded.has(name)) {
      const message = `"${key}" is written twice, in two spellings`;
      context.addIssue({ code: 'custom', message, input: block });
    }
    folded.set(name, value);
  }
  return Object.fromEntries(folded);
}
