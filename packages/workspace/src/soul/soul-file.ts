import type { NewId } from '@parley/contracts';
import { AudienceFrontMatter } from '../file-audience.ts';
import { readFrontMatter } from '../front-matter.ts';
import { isBlank } from '../is-blank.ts';
import { type FoundFile, walkPath } from '../walk-path.ts';
import { localLock, type WorkspaceLock } from '../workspace-lock.ts';
import { contentOf, type DiskResult, lookAgain, writeFileInside } from '../write-file.ts';
import { headToKeep } from '../write-rules.ts';

/** The file whose text is decided elsewhere (W06). */
export const SOUL = 'SOUL.md';

/** Larger files are not read. */
const MAX_BYTES = 1_000_000;

const PLACE = { name: SOUL, segments: [SOUL] } as const;

/** What stands in SOUL.md. */
export type SoulOnDisk =
  | {
      readonly kind: 'file';
      /** Without front matter. */
      readonly text: string;
      /** The front matter, as it has to stand before the text; empty: none. */
      readonly head: string;
      /** It is a form that nobody filled in. */
      readonly isBlank: boolean;
    }
  | { readonly kind: 'missing' }
  /** A link, a folder, something that cannot be read: neither read nor replaced. */
  | { readonly kind: 'obstacle'; readonly detail: string };

/** The readable copy of an agent’s soul in its workspace, for the one who keeps it: no view can write it. */
export interface SoulFile {
  /** Changes whenever the file does; `changedAt` in ms. Costs one `lstat`. Throws what the disk says. */
  glance(): Pick<FoundFile, 'fingerprint' | 'changedAt'> | null;
  read(): Promise<SoulOnDisk>;
  /** Runs work while nobody else writes to the workspace; it may write the file. */
  alone<T>(work: (write: WriteSoul) => Promise<T>): Promise<T>;
}

/** Replaces the file, whole or not at all. Never throws. */
export type WriteSoul = (text: string, head: string) => Promise<DiskResult>;

/** The soul of the workspace in `folder`. */
export function openSoulFile(
  folder: string,
  newId: NewId,
  lock: WorkspaceLock = localLock(),
): SoulFile {
  return {
    glance() {
      const found = walkPath(folder, PLACE);
      return found.kind === 'file' ? found.file : null;
    },
    async read() {
      const found = walkPath(folder, PLACE);
      if (found.kind === 'file' && found.file.bytes > MAX_BYTES) return obstacle('it is too large');
      const content = await contentOf(folder, PLACE);
      if (content.kind === 'refused') return obstacle(content.detail);
      if (content.text === null) return { kind: 'missing' };
      if (content.text.includes('\0')) return obstacle('it is not a text file');
      const front = readFrontMatter(content.text, AudienceFrontMatter);
      const { body } = front;
      return { kind: 'file', text: body, head: headToKeep(front), isBlank: isBlank(body) };
    },
    alone: (work) =>
      lock.hold(async (hold) => {
        await lookAgain(folder, PLACE);
        return work((text, head) =>
          writeFileInside(folder, PLACE, Buffer.from(`${head}${text}\n`), { newId, hold }),
        );
      }),
  };
}

function obstacle(detail: string): SoulOnDisk {
  return { kind: 'obstacle', detail };
}

/** What a soul says, as a view would give it: no front matter, no blank lines around it. */
export function soulText(raw: string): string {
  return readFrontMatter(raw, AudienceFrontMatter).body;
}
