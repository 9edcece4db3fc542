import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Capabilities, ChannelError, type OutboundPart, reasonOf } from '@parley/core';
import type { Scrub } from '@parley/core/telemetry/scrubber';
import type { AgentFileRepository } from '@parley/store';
import { scrubFile } from './scrub-file.ts';

interface PartFileDeps {
  readonly agentFiles: Pick<AgentFileRepository, 'ofPart'>;
  readonly capabilities: Pick<Capabilities, 'media'>;
  readonly scrub: Scrub;
}

/**
 * Sends a message part while its file is on this machine's disk, readable only by this user:
 * adapters stream files from there. A kind of file that the channel does not support is sent as a
 * document, and secrets are removed from every file (G18).
 */
export async function withPartFile<Sent>(
  { agentFiles, capabilities, scrub }: PartFileDeps,
  part: OutboundPart,
  send: (part: OutboundPart) => Promise<Sent>,
): Promise<Sent> {
  const { file } = part;
  if (file === undefined || file.path !== undefined) return send(part);
  const stored = await agentFiles.ofPart(part.id).catch(throwUnreadableFile);
  const kind = capabilities.media.includes(file.kind) ? file.kind : 'document';
  if (stored === null) return send({ ...part, file: { ...file, kind } });
  const bytes = await scrubFile(file.name, stored, scrub);
  const folder = await mkdtemp(join(tmpdir(), 'parley-file-')).catch(throwUnreadableFile);
  try {
    const path = join(folder, 'file');
    await writeFile(path, bytes, { mode: 0o600 }).catch(throwUnreadableFile);
    return await send({ ...part, file: { ...file, kind, path, size: bytes.byteLength } });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Nothing was sent, so the part is retried. */
function throwUnreadableFile(error: unknown): never {
  const message = `A file could not be prepared for sending: ${reasonOf(error)}. It will be retried.`;
  throw new ChannelError({ kind: 'transient', untried: true }, message, error);
}
