import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderGalleryPage } from './page.ts';
import { readAnswers } from './read-answers.ts';

/** Writes the page into a folder, which is created if necessary, and returns the file. */
export function writeGallery(folder: string): string {
  const file = join(folder, 'index.html');
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, renderGalleryPage(readAnswers()));
  return file;
}
