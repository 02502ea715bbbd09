import '../design/base.css';
import '../app/layout.module.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { loadFonts } from '../screen/loadFonts.ts';
import { VerifyPage } from './verifyPage.tsx';

loadFonts();
const root = document.getElementById('root');
if (root === null) throw new Error('The document has no root');
createRoot(root).render(
  <StrictMode>
    <VerifyPage />
  </StrictMode>,
);
