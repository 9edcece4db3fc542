import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const Instance = z.object({ address: z.string() });

/**
 * The address of the gateway with this data folder. The address is read for each request, because a
 * restarted process has a new port. Throws when no gateway has started with this data folder.
 */
export function readGatewayAddress(folder: string): string {
  return Instance.parse(JSON.parse(readFileSync(join(folder, 'gateway.json'), 'utf8'))).address;
}
