import { z } from 'zod';

/** `host:port` of a server among several; the port may be left away. */
const Node = z
  .string({ error: 'host:port, such as redis-2.internal:6379' })
  .refine(isNode, 'host:port, such as redis-2.internal:6379');

function isNode(node: string): boolean {
  if (/[/@?#\s]/.test(node)) return false;
  const url = URL.parse(`redis://${node}`);
  return url !== null && url.hostname !== '';
}

const Sentinel = z
  .strictObject({
    name: z.string().min(1).default('mymaster').describe('What the sentinels call the master.'),
    nodes: z.array(Node).min(1).describe('The sentinels: host:port, 26379 without a port.'),
    username: z.string().min(1).optional().describe('For the sentinels themselves.'),
    password: z.string().min(1).optional().describe('For the sentinels themselves.'),
  })
  .describe('Sentinels say which Redis is the master; the host of `url` is not used then.');

const Cluster = z
  .strictObject({
    nodes: z
      .array(Node)
      .default([])
      .describe('More nodes to begin with: host:port, 6379 without a port.'),
  })
  .describe('`url` is one node of a Redis Cluster; the others are found by it.');

/** Where wake-ups and live events go between processes. */
export const Queue = z
  .strictObject({
    url: z
      .url({ protocol: /^rediss?$/, error: 'a Redis URL, such as redis://127.0.0.1:6379' })
      .optional()
      .describe('Redis (rediss:// with TLS); without it the embedded queue.'),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'letters, digits, dots, _ and -, at most 64')
      .default('parley')
      .describe('Begins all keys, so that several installations can share one Redis.'),
    username: z.string().min(1).optional().describe('Stands above the one in `url`.'),
    password: z.string().min(1).optional().describe('Stands above the one in `url`.'),
    sentinel: Sentinel.optional(),
    cluster: Cluster.optional(),
  })
  .refine(({ url, sentinel, cluster }) => url !== undefined || !(sentinel ?? cluster), {
    path: ['url'],
    error: 'a Redis URL: with `sentinel` or `cluster` it says user, password, TLS and a first node',
  })
  .refine(({ sentinel, cluster }) => !(sentinel && cluster), {
    path: ['sentinel'],
    error: 'nothing: a Redis Cluster chooses its masters without sentinels',
  })
  .prefault({})
  .describe('Wake-ups between processes.');
