// The plugin entry that LLVM's interface forces to be C++, and shim.h.
#include "llvm/shim.h"

#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/ProfileData/InstrProf.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MD5.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Inliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Instrumentation/PGOInstrumentation.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <vector>

using namespace llvm;

namespace
{

// Of the pass that runs in this thread: linkers and other compilers compile several modules
// of one process at once.
thread_local FunctionAnalysisManager *Analyses;
thread_local ModuleAnalysisManager *ModuleAnalyses;
thread_local BlockFrequencyInfo *Frequencies;
thread_local BranchProbabilityInfo *Probabilities;
// The pipeline that has begun in this thread; and the module that was counted before it began.
thread_local const Module *PipelineModule, *CountedBefore;
thread_local ModuleAnalysisManager *PipelineAnalyses;
thread_local bool PipelineOptimizes;

bool runFootpath(Module &M, ModuleAnalysisManager &MAM, enum fp_point Point, bool Optimizing,
                 bool Alone = false)
{
    Analyses = &MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    ModuleAnalyses = &MAM;
    bool Changed = fp_llvm_run(wrap(&M), Point, Optimizing, Alone);
    Analyses = nullptr;
    ModuleAnalyses = nullptr;
    return Changed;
}

struct FootpathPass : PassInfoMixin<FootpathPass> {
    enum fp_point Point;
    bool Optimizing, Alone;
    FootpathPass(enum fp_point Point, bool Optimizing, bool Alone = false)
        : Point(Point), Optimizing(Optimizing), Alone(Alone)
    {
    }
    static bool isRequired()
    {
        return true;
    } // also at -O0 and for optnone functions
    PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM)
    {
        bool Changed = runFootpath(M, MAM, Point, Optimizing, Alone);
        if (Point == FP_POINT_LATE) PipelineModule = CountedBefore = nullptr;
        return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
    }
};

struct FootpathSurvey : PassInfoMixin<FootpathSurvey> {
    bool Optimizing;
    explicit FootpathSurvey(bool Optimizing) : Optimizing(Optimizing)
    {
    }
    static bool isRequired()
    {
        return true;
    }
    PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM)
    {
        if (CountedBefore == &M) return PreservedAnalyses::all();
        PipelineModule = &M;
        PipelineAnalyses = &MAM;
        PipelineOptimizes = Optimizing;
        return fp_llvm_survey(wrap(&M)) ? PreservedAnalyses::none() : PreservedAnalyses::all();
    }
};

// Analysis managers for one use, beside those of a pipeline.
struct OwnAnalyses {
    LoopAnalysisManager Loops;
    FunctionAnalysisManager Functions;
    CGSCCAnalysisManager Components;
    ModuleAnalysisManager Modules;
    OwnAnalyses()
    {
        PassBuilder Builder;
        Builder.registerModuleAnalyses(Modules);
        Builder.registerCGSCCAnalyses(Components);
        Builder.registerFunctionAnalyses(Functions);
        Builder.registerLoopAnalyses(Loops);
        Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
    }
};

// At -O0 LLVM's pass is the first of all: nothing has been analysed.
void countBeforePipeline(Module &M)
{
    OwnAnalyses Own;
    fp_llvm_survey(wrap(&M));
    runFootpath(M, Own.Modules, FP_POINT_PGO, false);
    CountedBefore = &M;
}

// With --fp-at=pgo footpath-cc asks clang for its own instrumentation. In its place, at the same
// point of the pipeline, ours is done. False: LLVM's pass is left out.
bool mayRun(StringRef Pass, const Any &IR)
{
    if (Pass != "PGOInstrumentationGen" || !fp_llvm_counts_as_llvm()) return true;
    auto *Known = any_cast<const Module *>(&IR);
    if (!Known) return true;
    Module &M = *const_cast<Module *>(*Known);
    if (PipelineModule != &M)
        countBeforePipeline(M);
    else if (runFootpath(M, *PipelineAnalyses, FP_POINT_PGO, PipelineOptimizes))
        PipelineAnalyses->invalidate(M, PreservedAnalyses::none());
    return false;
}

void registerPoints(PassBuilder &PB)
{
    if (auto *Callbacks = PB.getPassInstrumentationCallbacks())
        Callbacks->registerShouldRunOptionalPassCallback(
            [](StringRef Pass, Any IR) { return mayRun(Pass, IR); });
    PB.registerPipelineStartEPCallback([](ModulePassManager &MPM, auto Level, auto...) {
        MPM.addPass(FootpathSurvey(Level.getSpeedupLevel() > 0));
    });
    PB.registerPipelineEarlySimplificationEPCallback(
        [](ModulePassManager &MPM, auto Level, auto...) {
            MPM.addPass(FootpathPass(FP_POINT_EARLY, Level.getSpeedupLevel() > 0));
        });
    PB.registerOptimizerLastEPCallback([](ModulePassManager &MPM, auto Level, auto...) {
        MPM.addPass(FootpathPass(FP_POINT_LATE, Level.getSpeedupLevel() > 0));
    });
    // `opt -passes=footpath`, for the bitcode workflow
    PB.registerPipelineParsingCallback(
        [](StringRef Name, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement>) {
            if (Name != "footpath" && Name != "footpath-use") return false;
            MPM.addPass(
                FootpathPass(Name == "footpath-use" ? FP_POINT_EARLY : FP_POINT_LATE, true, true));
            return true;
        });
}

// A plugin for one LLVM crashes another. The host tells its version by
// LLVMGetVersion since LLVM 16; before, by its absence.
bool hostFits()
{
    using Version = void (*)(unsigned *, unsigned *, unsigned *);
    auto Get = reinterpret_cast<Version>(dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
    unsigned Major = 14, Minor, Patch;
    if (Get) Get(&Major, &Minor, &Patch);
    return Major == LLVM_VERSION_MAJOR;
}

// Our assembly must be read to become code. Compilers of languages that have no inline
// assembly do not make its parser known.
void makeParserKnown()
{
    static std::once_flag Once;
    std::call_once(Once, [] {
        auto Initialize =
            reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "LLVMInitializeX86AsmParser"));
        if (Initialize) Initialize();
    });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    PassPluginLibraryInfo Info = {};
    bool Fits = hostFits();
    if (Fits) makeParserKnown();
    Info.APIVersion = Fits ? LLVM_PLUGIN_API_VERSION : 0;
    Info.PluginName = "footpath";
    Info.PluginVersion = FOOTPATH_VERSION;
    Info.RegisterPassBuilderCallbacks = registerPoints;
    return Info;
}

LLVMBasicBlockRef fp_shim_split_block(LLVMValueRef At)
{
    auto *I = unwrap<Instruction>(At);
    return wrap(I->getParent()->splitBasicBlock(I));
}

void fp_shim_position_at_head(LLVMBuilderRef Builder, LLVMBasicBlockRef Block)
{
    BasicBlock *B = unwrap(Block);
    DebugLoc Location = unwrap(Builder)->getCurrentDebugLocation();
    unwrap(Builder)->SetInsertPoint(B, B->begin());
    unwrap(Builder)->SetCurrentDebugLocation(Location);
}

void fp_shim_align_loop(LLVMValueRef Terminator, uint32_t Bytes)
{
    auto *I = unwrap<Instruction>(Terminator);
    LLVMContext &Context = I->getContext();
    Metadata *Align[] = {
        MDString::get(Context, "llvm.loop.align"),
        ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(Context), Bytes))};
    SmallVector<Metadata *, 4> Facts = {nullptr}; /* the first one is the list itself */
    if (MDNode *Known = I->getMetadata(LLVMContext::MD_loop))
        for (unsigned Fact = 1; Fact < Known->getNumOperands(); Fact++)
            Facts.push_back(Known->getOperand(Fact));
    Facts.push_back(MDNode::get(Context, Align));
    MDNode *All = MDNode::getDistinct(Context, Facts);
    All->replaceOperandWith(0, All);
    I->setMetadata(LLVMContext::MD_loop, All);
}

void fp_shim_make_values(LLVMValueRef Fn, LLVMValueRef *Variables, size_t N)
{
    auto &F = *unwrap<Function>(Fn);
    std::vector<AllocaInst *> All;
    for (size_t I = 0; I < N; I++) All.push_back(unwrap<AllocaInst>(Variables[I]));
    DominatorTree Tree(F);
    PromoteMemToReg(All, Tree);
}

void fp_shim_redirect_phis(LLVMBasicBlockRef Block, LLVMBasicBlockRef From, LLVMBasicBlockRef To)
{
    for (PHINode &Phi : unwrap(Block)->phis()) {
        int First = Phi.getBasicBlockIndex(unwrap(From));
        if (First < 0) continue;
        Phi.setIncomingBlock(static_cast<unsigned>(First), unwrap(To));
        for (int Again; (Again = Phi.getBasicBlockIndex(unwrap(From))) >= 0;)
            Phi.removeIncomingValue(static_cast<unsigned>(Again), false);
    }
}

LLVMBasicBlockRef fp_shim_arrival_block(LLVMBasicBlockRef Block)
{
    BasicBlock *To = unwrap(Block);
    BasicBlock *At = BasicBlock::Create(To->getContext(), "", To->getParent(), To);
    for (PHINode &Phi : To->phis()) {
        auto *Moved = PHINode::Create(Phi.getType(), 0, "", At);
        for (unsigned I = Phi.getNumIncomingValues(); I-- > 0;)
            if (isa<IndirectBrInst>(Phi.getIncomingBlock(I)->getTerminator())) {
                Moved->addIncoming(Phi.getIncomingValue(I), Phi.getIncomingBlock(I));
                Phi.removeIncomingValue(I, false);
            }
        Phi.addIncoming(Moved, At);
    }
    for (BasicBlock &From : *To->getParent())
        if (auto *Jump = dyn_cast_or_null<IndirectBrInst>(From.getTerminator()))
            for (unsigned I = 0; I < Jump->getNumDestinations(); I++)
                if (Jump->getDestination(I) == To) Jump->setSuccessor(I, At);
    if (To->hasAddressTaken()) {
        BlockAddress *Old = BlockAddress::get(To);
        Old->replaceAllUsesWith(BlockAddress::get(At));
        Old->destroyConstant();
    }
    return wrap(At); // the caller adds the branch
}

LLVMBasicBlockRef fp_shim_second_body(LLVMValueRef Fn, LLVMBasicBlockRef *Second)
{
    auto &F = *unwrap<Function>(Fn);
    BasicBlock *Entry = &F.getEntryBlock();
    SmallVector<BasicBlock *, 32> Old, New;
    SmallVector<AllocaInst *, 16> Fixed;
    for (BasicBlock &B : F) Old.push_back(&B);
    for (Instruction &I : *Entry)
        if (auto *A = dyn_cast<AllocaInst>(&I))
            if (A->isStaticAlloca()) Fixed.push_back(A);
    BasicBlock *Head = BasicBlock::Create(F.getContext(), "", &F, Entry);
    for (AllocaInst *A : Fixed) A->moveBefore(*Head, Head->end());
    ValueToValueMapTy Map;
    for (BasicBlock *B : Old) {
        BasicBlock *Copy = CloneBasicBlock(B, Map, "", &F);
        Map[B] = Copy;
        New.push_back(Copy);
    }
    remapInstructionsInBlocks(New, Map);
    *Second = wrap(New[0]);
    return wrap(Head);
}

bool fp_shim_switch_case(LLVMValueRef Switch, unsigned Successor, int64_t *Value)
{
    auto *S = unwrap<SwitchInst>(Switch);
    for (auto Case : S->cases())
        if (Case.getSuccessorIndex() == Successor) {
            const APInt &V = Case.getCaseValue()->getValue();
            *Value = V.getSignificantBits() <= 64 ? V.getSExtValue() : 0;
            return true;
        }
    return false;
}

bool fp_shim_never_wraps(LLVMValueRef Addition)
{
    auto *Op = dyn_cast<OverflowingBinaryOperator>(unwrap(Addition));
    return Op && (Op->hasNoSignedWrap() || Op->hasNoUnsignedWrap());
}

void fp_shim_estimates(LLVMValueRef Fn)
{
    auto &F = *unwrap<Function>(Fn);
    Frequencies = &Analyses->getResult<BlockFrequencyAnalysis>(F);
    Probabilities = &Analyses->getResult<BranchProbabilityAnalysis>(F);
}

double fp_shim_block_frequency(LLVMBasicBlockRef Block)
{
    BasicBlock *B = unwrap(Block);
    double Entry = static_cast<double>(
        Frequencies->getBlockFreq(&B->getParent()->getEntryBlock()).getFrequency());
    double Here = static_cast<double>(Frequencies->getBlockFreq(B).getFrequency());
    return Entry > 0 ? Here / Entry : 1;
}

double fp_shim_edge_probability(LLVMBasicBlockRef Block, unsigned Successor)
{
    auto P = Probabilities->getEdgeProbability(unwrap(Block), Successor);
    return static_cast<double>(P.getNumerator()) / static_cast<double>(P.getDenominator());
}

void fp_shim_lay_out_loops_by_cost(void)
{
    static std::once_flag Once;
    std::call_once(Once, [] {
        auto &Options = cl::getRegisteredOptions();
        auto Found = Options.find("force-precise-rotation-cost");
        if (Found == Options.end() || Found->second->getNumOccurrences()) return;
        Found->second->addOccurrence(0, "force-precise-rotation-cost", "true");
    });
}

// The first 64 bits of the MD5 of the file as the compiler read it. Without one the file is not
// what was read (#line), or the debug information is older than DWARF 5.
static unsigned long long sumOf(const DIFile *File)
{
    unsigned long long Sum = 0;
    auto Checksum = File ? File->getChecksum() : decltype(File->getChecksum()){};
    if (!Checksum || Checksum->Kind != DIFile::CSK_MD5) return 0;
    return Checksum->Value.take_front(16).getAsInteger(16, Sum) ? 0 : Sum;
}

static void fillScope(const DIScope *Scope, StringRef Name, struct fp_shim_location *L)
{
    StringRef File = Scope->getFilename(), Folder = Scope->getDirectory();
    L->function = Name.data(), L->function_len = Name.size();
    L->file = File.data(), L->file_len = File.size();
    L->folder = Folder.data(), L->folder_len = Folder.size();
    L->file_sum = sumOf(Scope->getFile());
}

static void fillFunction(const DIScope *Scope, const DISubprogram *S, struct fp_shim_location *L)
{
    fillScope(Scope, S->getName(), L);
    StringRef Linkage = S->getLinkageName().empty() ? S->getName() : S->getLinkageName();
    L->linkage = Linkage.data(), L->linkage_len = Linkage.size();
    L->function_line = S->getLine();
}

static bool fillLocation(const DILocation *D, struct fp_shim_location *L)
{
    if (!D) return false;
    const DISubprogram *S = D->getScope()->getSubprogram();
    *L = {};
    L->line = D->getLine(), L->column = D->getColumn();
    L->discriminator = D->getDiscriminator();
    L->inlined_at = D->getInlinedAt();
    L->scope = D->getInlinedAt() ? static_cast<const void *>(D->getInlinedAt()) : S;
    if (S) fillFunction(D->getScope(), S, L);
    return true;
}

bool fp_shim_location(LLVMValueRef I, struct fp_shim_location *L)
{
    return fillLocation(unwrap<Instruction>(I)->getDebugLoc().get(), L);
}

bool fp_shim_outer_location(const void *At, struct fp_shim_location *L)
{
    return fillLocation(static_cast<const DILocation *>(At), L);
}

static bool fillPlace(const DILocation *D, struct fp_shim_place *P)
{
    if (!D) return false;
    *P = {D->getLine(), D->getColumn(), D->getScope()->getSubprogram(), D->getInlinedAt()};
    return true;
}

bool fp_shim_place(LLVMValueRef I, struct fp_shim_place *P)
{
    return fillPlace(unwrap<Instruction>(I)->getDebugLoc().get(), P);
}

bool fp_shim_outer_place(const void *At, struct fp_shim_place *P)
{
    return fillPlace(static_cast<const DILocation *>(At), P);
}

bool fp_shim_function_location(LLVMValueRef Fn, struct fp_shim_location *L)
{
    const DISubprogram *S = unwrap<Function>(Fn)->getSubprogram();
    if (S) fp_shim_subprogram_location(S, L);
    return S;
}

void fp_shim_subprogram_location(const void *Subprogram, struct fp_shim_location *L)
{
    auto *S = static_cast<const DISubprogram *>(Subprogram);
    *L = {};
    L->line = S->getLine();
    L->scope = S;
    fillFunction(S, S, L);
}

char *fp_shim_demangle(const char *Name)
{
    std::string Readable = demangle(std::string(Name));
    return Readable == Name ? nullptr : strdup(Readable.c_str());
}

bool fp_shim_implies(LLVMValueRef Known, bool IsTrue, LLVMValueRef Condition)
{
    auto *I = dyn_cast<Instruction>(unwrap(Condition));
    if (!I) return false;
    auto Implied = isImpliedCondition(unwrap(Known), I, I->getModule()->getDataLayout(), IsTrue);
    return Implied ? true : false; // decided, whichever way
}

// The thresholds and passes of PassBuilder::addPreInlinerPasses.
static void runPasses(Module &M, ModulePassManager &Passes)
{
    Passes.run(M, *ModuleAnalyses);
    // the passes may have dropped the link through which analyses of functions are invalidated
    Analyses = &ModuleAnalyses->getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
}

void fp_shim_inline_small(LLVMModuleRef M)
{
    InlineParams Params = {};
    Params.DefaultThreshold = 75;
    Params.HintThreshold = 325;
    FunctionPassManager Tidy;
#if LLVM_VERSION_MAJOR >= 16
    Tidy.addPass(SROAPass(SROAOptions::ModifyCFG));
#else
    Tidy.addPass(SROAPass());
#endif
    Tidy.addPass(EarlyCSEPass());
    Tidy.addPass(SimplifyCFGPass());
    Tidy.addPass(InstCombinePass());
    ModuleInlinerWrapperPass Inliner(Params);
    Inliner.getPM().addPass(createCGSCCToFunctionPassAdaptor(std::move(Tidy)));
    ModulePassManager Passes;
    Passes.addPass(std::move(Inliner));
    Passes.addPass(GlobalDCEPass());
    runPasses(*unwrap(M), Passes);
}

void fp_shim_split_coroutines(LLVMModuleRef M)
{
    ModulePassManager Passes;
    Passes.addPass(createModuleToPostOrderCGSCCPassAdaptor(CoroSplitPass()));
    runPasses(*unwrap(M), Passes);
}

void fp_shim_note_values(LLVMValueRef Call, const struct fp_shim_value *Values, unsigned N,
                         uint64_t Total)
{
    auto *I = unwrap<Instruction>(Call);
    SmallVector<InstrProfValueData, 16> Data;
    for (const struct fp_shim_value *V = Values; V < Values + N; V++) {
        auto *F = V->function ? unwrap<Function>(V->function) : nullptr;
        Data.push_back({F ? MD5Hash(getPGOFuncName(*F)) : V->size, V->count});
    }
    annotateValueSite(*I->getModule(), *I, Data, Total,
                      Values[0].function ? IPVK_IndirectCallTarget : IPVK_MemOPSize, N);
}

void fp_shim_use_values(LLVMModuleRef M)
{
    ModulePassManager Passes;
    Passes.addPass(PGOIndirectCallPromotion(false, false));
    Passes.addPass(createModuleToFunctionPassAdaptor(PGOMemOPSizeOpt()));
    ModuleAnalyses->invalidate(*unwrap(M), PreservedAnalyses::none());
    Passes.run(*unwrap(M), *ModuleAnalyses);
    Analyses =
        &ModuleAnalyses->getResult<FunctionAnalysisManagerModuleProxy>(*unwrap(M)).getManager();
}

void fp_shim_refresh_summary(LLVMModuleRef M)
{
    ModuleAnalyses->getResult<ProfileSummaryAnalysis>(*unwrap(M)).refresh();
}

static bool isSetjmp(const CallBase &Call)
{
    return Call.hasFnAttr(Attribute::ReturnsTwice) ||
           Call.getIntrinsicID() == Intrinsic::eh_sjlj_setjmp;
}

// Assembly may define labels. A copy of ours holds a comment.
static bool isCodeInAsm(const CallBase &Call)
{
    auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand());
    return Asm && !(Asm->getAsmString().empty() || Asm->getAsmString()[0] == '#');
}

bool fp_shim_can_copy(LLVMBasicBlockRef Block)
{
    BasicBlock &B = *unwrap(Block);
    if (B.hasAddressTaken() || B.isEHPad() || B.isEntryBlock()) return false;
    if (isa<IndirectBrInst>(B.getTerminator()) || isa<CallBrInst>(B.getTerminator())) return false;
    for (Instruction &I : B) {
        if (isa<AllocaInst>(I) || I.getType()->isTokenTy()) return false;
        if (auto *Call = dyn_cast<CallBase>(&I))
            if (Call->cannotDuplicate() || Call->isConvergent() || isSetjmp(*Call) ||
                isCodeInAsm(*Call))
                return false;
    }
    return true;
}

namespace
{

// The copying of a set of blocks: see shim.h.
class BlockCopier
{
    ValueToValueMapTy Map;
    SmallVector<BasicBlock *, 16> Old, New;
    SmallPtrSet<BasicBlock *, 16> Region, From;
    BasicBlock *OnlyFrom, *OnlyTo;

    bool isRedirected(BasicBlock *P, BasicBlock *To)
    {
        return From.count(P) || (P == OnlyFrom && To == OnlyTo);
    }

    // From a block to what can follow it in the region before that is entered again.
    bool isBefore(BasicBlock *D, BasicBlock *E)
    {
        SmallPtrSet<BasicBlock *, 16> Seen;
        SmallVector<BasicBlock *, 16> Next = {D};
        while (!Next.empty())
            for (BasicBlock *To : successors(Next.pop_back_val())) {
                if (To == OnlyTo || !Region.count(To) || !Seen.insert(To).second) continue;
                if (To == E) return true;
                Next.push_back(To);
            }
        return false;
    }

    // A region that holds a loop's header may use values of its own from the last time
    // round. In the copy they are not the copy's: mergeValues says whose.
    void keepOlderValues(BasicBlock *B, BasicBlock *C)
    {
        auto Copied = C->begin();
        for (Instruction &I : *B) {
            Instruction &J = *Copied++;
            for (unsigned K = 0; K < I.getNumOperands(); K++) {
                auto *Value = dyn_cast<Instruction>(I.getOperand(K));
                if (!Value || !Region.count(Value->getParent())) continue;
                auto *Phi = dyn_cast<PHINode>(&I);
                BasicBlock *D = Value->getParent(), *E = Phi ? Phi->getIncomingBlock(K) : B;
                if (D != E && Region.count(E) && !isBefore(D, E)) J.setOperand(K, Value);
            }
        }
    }

    void cloneAll()
    {
        for (BasicBlock *B : Old) {
            BasicBlock *C = CloneBasicBlock(B, Map, ".path", B->getParent());
            Map[B] = C;
            New.push_back(C);
        }
        for (BasicBlock *C : New)
            for (Instruction &I : *C) {
                RemapInstruction(&I, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
#if LLVM_VERSION_MAJOR >= 19
                RemapDbgRecordRange(C->getModule(), I.getDbgRecordRange(), Map,
                                    RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
#endif
            }
    }

    // Of the ways into a block, its copy keeps those that are redirected or copied.
    void trimPhis(BasicBlock *B, BasicBlock *C)
    {
        SmallPtrSet<BasicBlock *, 16> Copies(New.begin(), New.end());
        auto Original = B->begin();
        for (PHINode &Phi : C->phis()) {
            auto *Was = cast<PHINode>(&*Original++);
            for (unsigned I = Phi.getNumIncomingValues(); I-- > 0;) {
                BasicBlock *P = Phi.getIncomingBlock(I);
                if (Copies.count(P)) continue;
                // what comes from outside may be a value of B itself, round a loop:
                // mergeValues says whether B's or C's
                Phi.setIncomingValue(I, Was->getIncomingValue(I));
                if (!isRedirected(P, B)) Phi.removeIncomingValue(I, false);
            }
        }
        for (auto It = B->begin(); auto *Phi = dyn_cast<PHINode>(&*It);) {
            ++It;
            for (unsigned I = Phi->getNumIncomingValues(); I-- > 0;)
                if (isRedirected(Phi->getIncomingBlock(I), B)) {
                    bool Last = Phi->getNumIncomingValues() == 1;
                    Phi->removeIncomingValue(I, true);
                    if (Last) break;
                }
        }
    }

    void redirect(BasicBlock *P)
    {
        Instruction *Terminator = P->getTerminator();
        for (unsigned I = 0; I < Terminator->getNumSuccessors(); I++) {
            BasicBlock *To = Terminator->getSuccessor(I);
            if (Region.count(To) && isRedirected(P, To))
                Terminator->setSuccessor(I, cast<BasicBlock>(&*Map[To]));
        }
    }

    // Blocks outside have new ways in, from the copies.
    void extendPhis(BasicBlock *B, BasicBlock *C)
    {
        SmallPtrSet<BasicBlock *, 4> Seen;
        for (BasicBlock *To : successors(B)) {
            if (Region.count(To) || !Seen.insert(To).second) continue;
            for (PHINode &Phi : To->phis())
                for (unsigned I = 0, E = Phi.getNumIncomingValues(); I < E; I++) {
                    if (Phi.getIncomingBlock(I) != B) continue;
                    Value *V = Phi.getIncomingValue(I);
                    auto Found = Map.find(V);
                    Phi.addIncoming(Found != Map.end() ? &*Found->second : V, C);
                }
        }
    }

    void mergeValues(BasicBlock *B, BasicBlock *C)
    {
        for (Instruction &I : *B) {
            auto Copy = Map.find(&I);
            if (Copy == Map.end()) continue; // a phi made for another value: right already
            SmallVector<Use *, 8> Uses;
            for (Use &U : I.uses()) {
                auto *User = cast<Instruction>(U.getUser());
                auto *Phi = dyn_cast<PHINode>(User);
                BasicBlock *At = Phi ? Phi->getIncomingBlock(U) : User->getParent();
                if (At != B) Uses.push_back(&U); // in copies: of an older value
            }
            if (Uses.empty()) continue;
            SSAUpdater Updater;
            Updater.Initialize(I.getType(), I.getName());
            Updater.AddAvailableValue(B, &I);
            Updater.AddAvailableValue(C, &*Copy->second);
            for (Use *U : Uses) Updater.RewriteUse(*U);
        }
    }

  public:
    BlockCopier(ArrayRef<BasicBlock *> Blocks, ArrayRef<BasicBlock *> Sources, BasicBlock *OnlyFrom,
                BasicBlock *OnlyTo)
        : Old(Blocks.begin(), Blocks.end()), Region(Blocks.begin(), Blocks.end()),
          From(Sources.begin(), Sources.end()), OnlyFrom(OnlyFrom), OnlyTo(OnlyTo)
    {
    }

    ArrayRef<BasicBlock *> run()
    {
        cloneAll();
        for (size_t I = 0; OnlyTo && I < Old.size(); I++) keepOlderValues(Old[I], New[I]);
        for (size_t I = 0; I < Old.size(); I++) extendPhis(Old[I], New[I]);
        for (size_t I = 0; I < Old.size(); I++) trimPhis(Old[I], New[I]);
        for (BasicBlock *P : From) redirect(P);
        if (OnlyFrom) redirect(OnlyFrom);
        for (size_t I = 0; I < Old.size(); I++) mergeValues(Old[I], New[I]);
        return New;
    }
};

} // namespace

void fp_shim_copy_blocks(const LLVMBasicBlockRef *Old, LLVMBasicBlockRef *Fresh, unsigned N,
                         const LLVMBasicBlockRef *From, unsigned NFrom, LLVMBasicBlockRef OnlyFrom,
                         LLVMBasicBlockRef OnlyTo)
{
    SmallVector<BasicBlock *, 16> Blocks, Sources;
    for (unsigned I = 0; I < N; I++) Blocks.push_back(unwrap(Old[I]));
    for (unsigned I = 0; I < NFrom; I++) Sources.push_back(unwrap(From[I]));
    BlockCopier Copier(Blocks, Sources, unwrap(OnlyFrom), unwrap(OnlyTo));
    ArrayRef<BasicBlock *> New = Copier.run();
    for (unsigned I = 0; I < N; I++) Fresh[I] = wrap(New[I]);
}

namespace
{

// Blocks copied as a graph says: see shim.h.
class GraphCopier
{
    const fp_shim_copies &How;
    SmallVector<BasicBlock *, 32> Blocks;
    std::vector<SmallVector<unsigned, 2>> CopiesOf; // per old block
    std::vector<ValueToValueMapTy> Maps;            // per copy
    struct Incoming {
        PHINode *Phi;
        DenseMap<BasicBlock *, Value *> From;
    };
    DenseMap<BasicBlock *, std::vector<Incoming>> Phis; // of old blocks, as they were

    void notePhis(BasicBlock *B)
    {
        if (Phis.count(B)) return;
        std::vector<Incoming> &Noted = Phis[B];
        for (PHINode &Phi : B->phis()) {
            Noted.emplace_back();
            Noted.back().Phi = &Phi;
            for (unsigned I = 0; I < Phi.getNumIncomingValues(); I++)
                Noted.back().From[Phi.getIncomingBlock(I)] = Phi.getIncomingValue(I);
        }
    }

    void clone(unsigned Copy)
    {
        BasicBlock *B = Blocks[How.block_of[Copy]];
        ValueToValueMapTy &Map = Maps[Copy - How.nold];
        BasicBlock *C = CloneBasicBlock(B, Map, ".copy", B->getParent());
        C->moveAfter(B);
        const auto Flags = RF_NoModuleLevelChanges | RF_IgnoreMissingLocals;
        for (Instruction &I : *C) {
            RemapInstruction(&I, Map, Flags);
#if LLVM_VERSION_MAJOR >= 19
            RemapDbgRecordRange(C->getModule(), I.getDbgRecordRange(), Map, Flags);
#endif
        }
        Blocks.push_back(C);
        CopiesOf[How.block_of[Copy]].push_back(Copy);
    }

    // A branch may have several ways to one block.
    void lead(const fp_shim_copied_edge &E)
    {
        Instruction *Terminator = Blocks[E.src]->getTerminator();
        BasicBlock *Old = Blocks[How.block_of[E.dst]];
        for (unsigned I = 0; E.dst >= How.nold && I < Terminator->getNumSuccessors(); I++)
            if (Terminator->getSuccessor(I) == Old) Terminator->setSuccessor(I, Blocks[E.dst]);
    }

    static unsigned waysTo(BasicBlock *From, BasicBlock *To)
    {
        return (unsigned)count(successors(From), To);
    }

    // Phis of a block that control came to from Was, and now from From as well.
    void addWays(BasicBlock *Old, BasicBlock *At, BasicBlock *Was, BasicBlock *From)
    {
        auto Place = At->begin();
        for (Incoming &I : Phis[Old]) {
            auto *Phi = cast<PHINode>(&*Place++);
            for (unsigned K = waysTo(From, At); K; K--) Phi->addIncoming(I.From[Was], From);
        }
    }

    void removeOldWays(BasicBlock *B)
    {
        for (Incoming &I : Phis[B])
            for (unsigned K = I.Phi->getNumIncomingValues(); K-- > 0;)
                if (!waysTo(I.Phi->getIncomingBlock(K), B)) I.Phi->removeIncomingValue(K, false);
    }

    static void clearPhis(BasicBlock *C)
    {
        for (PHINode &Phi : C->phis())
            while (Phi.getNumIncomingValues()) Phi.removeIncomingValue(0u, false);
    }

    // Nothing leads to an old block any more: its phis would have no ways.
    static void dropEmptyPhis(BasicBlock *B)
    {
        while (auto *Phi = dyn_cast<PHINode>(&B->front())) {
            if (Phi->getNumIncomingValues()) return;
            Phi->replaceAllUsesWith(PoisonValue::get(Phi->getType()));
            Phi->eraseFromParent();
        }
    }

    void mergeValue(Instruction &I, unsigned Block)
    {
        BasicBlock *B = Blocks[Block];
        SmallVector<Use *, 8> Uses;
        for (Use &U : I.uses()) {
            auto *User = cast<Instruction>(U.getUser());
            auto *Phi = dyn_cast<PHINode>(User);
            if ((Phi ? Phi->getIncomingBlock(U) : User->getParent()) != B) Uses.push_back(&U);
        }
        if (Uses.empty()) return;
        SSAUpdater Updater;
        Updater.Initialize(I.getType(), I.getName());
        Updater.AddAvailableValue(B, &I);
        for (unsigned Copy : CopiesOf[Block])
            Updater.AddAvailableValue(Blocks[Copy], &*Maps[Copy - How.nold][&I]);
        for (Use *U : Uses) Updater.RewriteUse(*U);
    }

    // Values of the blocks as they were; phis that merging adds are right already.
    void mergeValues()
    {
        std::vector<std::pair<Instruction *, unsigned>> Values;
        for (unsigned B = 0; B < How.nold; B++)
            if (!CopiesOf[B].empty())
                for (Instruction &I : *Blocks[B])
                    if (!I.use_empty()) Values.push_back({&I, B});
        for (auto &V : Values) mergeValue(*V.first, V.second);
    }

  public:
    explicit GraphCopier(const fp_shim_copies &How)
        : How(How), CopiesOf(How.nold), Maps(How.nblocks - How.nold)
    {
        for (unsigned B = 0; B < How.nold; B++) Blocks.push_back(unwrap(How.blocks[B]));
    }

    void run()
    {
        ArrayRef<fp_shim_copied_edge> Edges(How.edges, How.nedges);
        for (const auto &E : Edges) notePhis(Blocks[How.block_of[E.dst]]);
        for (unsigned C = How.nold; C < How.nblocks; C++) clone(C);
        for (const auto &E : Edges) lead(E);
        for (unsigned C = How.nold; C < How.nblocks; C++) clearPhis(Blocks[C]);
        for (auto &P : Phis) removeOldWays(P.first);
        for (const auto &E : Edges)
            if (E.dst >= How.nold || E.src >= How.nold)
                addWays(Blocks[How.block_of[E.dst]], Blocks[E.dst], Blocks[How.block_of[E.src]],
                        Blocks[E.src]);
        mergeValues();
        for (auto &P : Phis) dropEmptyPhis(P.first);
        for (unsigned C = How.nold; C < How.nblocks; C++) {
            dropEmptyPhis(Blocks[C]);
            How.blocks[C] = wrap(Blocks[C]);
        }
    }
};

} // namespace

void fp_shim_copy_graph(const struct fp_shim_copies *How)
{
    GraphCopier(*How).run();
}

bool fp_shim_is_must_tail(LLVMValueRef Instruction)
{
    const auto *Call = dyn_cast<CallInst>(unwrap(Instruction));
    return Call && Call->isMustTailCall();
}

void fp_shim_keep(LLVMValueRef Variable)
{
    auto *Global = unwrap<GlobalValue>(Variable);
    appendToCompilerUsed(*Global->getParent(), {Global});
}

void fp_shim_touches_nothing(LLVMValueRef Call)
{
    unwrap<CallInst>(Call)->setDoesNotAccessMemory();
    unwrap<CallInst>(Call)->setDoesNotThrow();
}

// ---- the counters of LLVM's own instrumentation ----

namespace
{

// One of LLVM's counters, in a copy of the module where LLVM's pass has run: the block of the
// original that it counts, the way out of a block, or the select.
struct FoundCounter {
    uint64_t Index;
    BasicBlock *Block;
    int Way; // -1: the block itself
    SelectInst *Select;
};

struct FoundFunction {
    std::string Name;
    uint64_t Hash = 0, Count = 0;
    SmallVector<FoundCounter, 16> Counters;
    std::vector<LLVMBasicBlockRef> Blocks; // per counter; null: LLVM counts nothing there
};

thread_local std::map<const Function *, FoundFunction> FoundFunctions;

class CounterFinder
{
    DenseMap<const Value *, Value *> Original; // of blocks and selects of the copy
    FoundFunction *Found = nullptr;

    static uint64_t number(const CallBase &Call, unsigned I)
    {
        return cast<ConstantInt>(Call.getArgOperand(I))->getZExtValue();
    }

    void noteFunction(const CallBase &Call)
    {
        auto *Name = cast<GlobalVariable>(Call.getArgOperand(0)->stripPointerCasts());
        Found->Name =
            cast<ConstantDataSequential>(Name->getInitializer())->getRawDataValues().str();
        Found->Hash = number(Call, 1);
        Found->Count = number(Call, 2);
    }

    // LLVM counts a way out of a block in a block of its own, which the copy alone has.
    void noteBlock(const CallBase &Call)
    {
        const BasicBlock *B = Call.getParent();
        if (Value *Known = Original.lookup(B)) {
            Found->Counters.push_back({number(Call, 3), cast<BasicBlock>(Known), -1, nullptr});
            return;
        }
        const BasicBlock *From = B->getSinglePredecessor();
        Value *Known = From ? Original.lookup(From) : nullptr;
        if (!Known) return;
        const Instruction *T = From->getTerminator();
        for (unsigned I = 0; I < T->getNumSuccessors(); I++)
            if (T->getSuccessor(I) == B)
                Found->Counters.push_back(
                    {number(Call, 3), cast<BasicBlock>(Known), static_cast<int>(I), nullptr});
    }

    void noteSelect(const CallBase &Call)
    {
        const Instruction *I = &Call;
        while (I && !isa<SelectInst>(I)) I = I->getNextNode();
        Value *Known = I ? Original.lookup(I) : nullptr;
        if (Known)
            Found->Counters.push_back({number(Call, 3), nullptr, -1, cast<SelectInst>(Known)});
    }

    void lookAt(const Instruction &I)
    {
        auto *Call = dyn_cast<IntrinsicInst>(&I);
        if (!Call) return;
        bool Step = Call->getIntrinsicID() == Intrinsic::instrprof_increment_step;
        if (!Step && Call->getIntrinsicID() != Intrinsic::instrprof_increment) return;
        noteFunction(*Call);
        if (Step)
            noteSelect(*Call);
        else
            noteBlock(*Call);
    }

    void remember(Function &F, ValueToValueMapTy &Map)
    {
        for (BasicBlock &B : F) {
            Original[Map[&B]] = &B;
            for (Instruction &I : B)
                if (isa<SelectInst>(I)) Original[Map[&I]] = &I;
        }
    }

    static bool isIndirectTarget(BasicBlock &B)
    {
        for (BasicBlock *From : predecessors(&B))
            if (isa<IndirectBrInst>(From->getTerminator())) return true;
        return false;
    }

    // The block behind `First` where indirect branches and others meet, and the block by which the
    // others come to it. False: no such blocks.
    static bool findParts(BasicBlock *First, BasicBlock *&Body, BasicBlock *&Others)
    {
        Body = First->getSingleSuccessor();
        Others = nullptr;
        if (!Body || !Body->hasNPredecessors(2)) return false;
        for (BasicBlock *From : predecessors(Body))
            if (From != First) Others = From;
        return Others && Others->getSingleSuccessor() == Body;
    }

    // LLVM splits the targets of indirect branches first: only these come to the first part. The
    // same is done to the original now, and the parts of both are put side by side.
    void splitTargets(Function &F, ValueToValueMapTy &Map)
    {
        SmallVector<BasicBlock *, 16> Targets;
        SmallPtrSet<const BasicBlock *, 32> Before;
        for (BasicBlock &B : F) {
            Before.insert(&B);
            if (isIndirectTarget(B)) Targets.push_back(&B);
        }
        if (Targets.empty()) return;
#if LLVM_VERSION_MAJOR >= 15
        SplitIndirectBrCriticalEdges(F, /*IgnoreBlocksWithoutPHI=*/false);
#else
        SplitIndirectBrCriticalEdges(F);
#endif
        for (BasicBlock *B : Targets) {
            BasicBlock *Body, *Others, *BodyCopy, *OthersCopy;
            if (!findParts(B, Body, Others) || Before.count(Body)) continue;
            if (!findParts(cast<BasicBlock>(&*Map[B]), BodyCopy, OthersCopy)) continue;
            Original[BodyCopy] = Body;
            Original[OthersCopy] = Others;
        }
    }

  public:
    void run(Module &M)
    {
        ValueToValueMapTy Map;
        std::unique_ptr<Module> Copy = CloneModule(M, Map);
        for (Function &F : M) remember(F, Map);
        OwnAnalyses Own;
        ModulePassManager Passes;
        Passes.addPass(PGOInstrumentationGen());
        Passes.run(*Copy, Own.Modules);
        for (Function &F : M) {
            if (F.isDeclaration()) continue;
            Found = &FoundFunctions[&F];
            splitTargets(F, Map);
            for (Instruction &I : instructions(*cast<Function>(&*Map[&F]))) lookAt(I);
        }
    }
};

// What a select chooses becomes a way through a block of its own. A branch must not depend on
// poison, a select may.
BasicBlock *branchInsteadOf(SelectInst *Select)
{
    IRBuilder<> Builder(Select);
    Value *Condition = Builder.CreateFreeze(Select->getCondition());
    Instruction *Then = SplitBlockAndInsertIfThen(Condition, Select, false);
    BasicBlock *Chosen = Then->getParent(), *Head = Chosen->getSinglePredecessor();
    Builder.SetInsertPoint(Select);
    PHINode *Phi = Builder.CreatePHI(Select->getType(), 2);
    Phi->addIncoming(Select->getTrueValue(), Chosen);
    Phi->addIncoming(Select->getFalseValue(), Head);
    Phi->takeName(Select);
    Select->replaceAllUsesWith(Phi);
    Select->eraseFromParent();
    return Chosen;
}

// Ways first: a select splits its block, and the ways leave the second part then.
void makeBlocks(FoundFunction &Found)
{
    Found.Blocks.assign(Found.Count, nullptr);
    for (FoundCounter &C : Found.Counters) {
        if (C.Index >= Found.Count || C.Select) continue;
        BasicBlock *B = C.Block;
        if (C.Way >= 0) B = SplitCriticalEdge(B->getTerminator(), static_cast<unsigned>(C.Way));
        Found.Blocks[C.Index] = wrap(B);
    }
    for (FoundCounter &C : Found.Counters)
        if (C.Index < Found.Count && C.Select)
            Found.Blocks[C.Index] = wrap(branchInsteadOf(C.Select));
}

} // namespace

void fp_shim_count_as_llvm(LLVMModuleRef M)
{
    FoundFunctions.clear();
    CounterFinder().run(*unwrap(M));
    for (auto &Found : FoundFunctions) makeBlocks(Found.second);
    ModuleAnalyses->invalidate(*unwrap(M), PreservedAnalyses::none());
    Analyses =
        &ModuleAnalyses->getResult<FunctionAnalysisManagerModuleProxy>(*unwrap(M)).getManager();
}

bool fp_shim_llvm_counters(LLVMValueRef Fn, struct fp_shim_counters *Counters)
{
    auto It = FoundFunctions.find(unwrap<Function>(Fn));
    if (It == FoundFunctions.end() || !It->second.Count) return false;
    *Counters = {It->second.Name.c_str(), It->second.Hash, It->second.Blocks.data(),
                 static_cast<uint32_t>(It->second.Blocks.size())};
    return true;
}

void fp_shim_counters_end(void)
{
    FoundFunctions.clear();
}
