import { z } from 'zod';

const Boom = z.object({
  data: z.unknown(),
  output: z.object({ statusCode: z.int() }).optional(),
});

/**
 * The number in an error of Baileys: `status` is why a connection ended, `data` what the server
 * answered to a question.
 */
export function codeOf(thrown: unknown, where: 'status' | 'data'): number | undefined {
  const boom = Boom.safeParse(thrown);
  if (!boom.success) return undefined;
  if (where === 'status') return boom.data.output?.statusCode;
  return typeof boom.data.data === 'number' ? boom.data.data : undefined;
}
