import { join } from 'node:path';
import { writeGallery } from './write-gallery.ts';

console.log(writeGallery(join(import.meta.dirname, '../../.gallery')));
